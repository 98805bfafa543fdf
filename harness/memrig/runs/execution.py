"""Runs what is left of a plan on this machine: pods, the gateway, the judge."""

import asyncio
from contextlib import closing

from memrig.grading.base import load_grader
from memrig.pod.reaper import reap, sweep
from memrig.pod.select import provider_for
from memrig.runs.config import RunConfig
from memrig.runs.executor import Executed, LocalExecutor, Observer, Services
from memrig.runs.judge import TrialJudge
from memrig.runs.models import elsewhere_of, open_gateway
from memrig.runs.plan import Plan


async def execute_plan(plan: Plan, config: RunConfig, observer: Observer) -> Executed:
    """Runs a plan's unfinished trials; pods that a killed run left behind are removed first.

    Whoever calls holds the run's folder.
    """
    await reap()
    lock, directory = plan.lock, plan.directory
    provider = provider_for(lock.adapter.pod)
    with closing(provider):
        async with open_gateway(lock, directory, config) as gateway:
            judge = TrialJudge(directory, load_grader(lock.protocol), gateway, lock.judge)
            services = Services(
                provider=provider,
                models=gateway,
                judge=judge if lock.mode != "retrieval" else None,
                keep_pod=config.keep_pod,
            )
            llm, elsewhere = (config.llm, elsewhere_of(lock, config)) if gateway else ("", ())
            executor = LocalExecutor(services, config.jobs, llm, elsewhere)
            try:
                return await executor.execute(plan, observer)
            finally:
                await asyncio.shield(sweep(directory.root.name))
