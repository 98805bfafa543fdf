// The contract over gRPC: requests are checked, the memory does the work, every response carries
// the boot id. Answer and CallTool are not declared, and left out: gRPC answers UNIMPLEMENTED.

import { randomUUID } from "node:crypto";

import {
  type handleUnaryCall,
  type ServerDuplexStream,
  status,
  type StatusObject,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";

import type { CapabilitiesResponse } from "./contract/memrig/v1/CapabilitiesResponse";
import type { ForgetRequest__Output } from "./contract/memrig/v1/ForgetRequest";
import type { IngestAck } from "./contract/memrig/v1/IngestAck";
import type { IngestRequest__Output } from "./contract/memrig/v1/IngestRequest";
import type { IngestResponse } from "./contract/memrig/v1/IngestResponse";
import type { RetrieveRequest__Output } from "./contract/memrig/v1/RetrieveRequest";
import type { SearchRequest__Output } from "./contract/memrig/v1/SearchRequest";
import type { Memory } from "./memory";
import type { Passage } from "./passages";
import { episodesOf, idsOf, invalid, MAX_RESULTS, searchOf, StatusError } from "./requests";

/** Differs at every start, so that a silent restart is seen (§1.4). */
const bootId = randomUUID();

const CAPABILITIES: CapabilitiesResponse = {
  name: "@NAME@",
  version: "0.1.0",
  contractVersion: "1.0",
  searchModes: ["SEARCH_MODE_KEYWORD"],
  filterFields: [
    { name: "timestamp", type: "FILTER_TYPE_TIMESTAMP", description: "when it happened" },
  ],
  maxResults: MAX_RESULTS,
  supportsRetrieve: true,
  supportsForget: true,
  reportsSourceTurns: true,
  // Say what is dropped or changed: every report shows it.
  limitations: ["Everything is held in the process, and gone when it ends."],
};

export function serviceOf(memory: Memory): UntypedServiceImplementation {
  return {
    Capabilities: unary(async () => CAPABILITIES),
    Reset: unary(async () => {
      await memory.reset();
      return {};
    }),
    Ingest: (call: Ingest) => ingest(memory, call),
    Flush: unary(async () => ({ totalItems: await memory.flush() })),
    Search: unary(async (request: SearchRequest__Output) => {
      const { query, limit, filters } = searchOf(request);
      const hits = await memory.search(query, limit, filters);
      return { hits: hits.map(({ passage, score }) => ({ ...item(passage), score })) };
    }),
    Retrieve: unary(async ({ refId }: RetrieveRequest__Output) => {
      if (!refId) throw invalid("ref_id: empty");
      const passage = await memory.retrieve(refId);
      if (passage === null) throw new StatusError(status.NOT_FOUND, `no passage ${refId}`);
      return { document: item(passage) };
    }),
    Forget: unary(async (request: ForgetRequest__Output) => ({
      forgottenEpisodes: await memory.forget(idsOf(request.episodeIds)),
    })),
  };
}

/** What hits and documents have in common: the text, and where it comes from. */
function item(passage: Passage) {
  return {
    refId: passage.refId,
    text: passage.text,
    sourceEpisodeIds: [passage.episodeId],
    sourceTurnIds: passage.turnId === null ? [] : [passage.turnId],
    timestamp: passage.timestamp,
  };
}

function unary<Q, R extends object>(work: (request: Q) => Promise<R>): handleUnaryCall<Q, R> {
  return (call, callback) => {
    work(call.request).then(
      (response) => callback(null, { ...response, bootId }),
      (error: unknown) => callback(statusOf(error)),
    );
  };
}

type Ingest = ServerDuplexStream<IngestRequest__Output, IngestResponse>;

/** Acknowledges each message as it is stored, and reads the next one when there is room (§6). */
function ingest(memory: Memory, call: Ingest): void {
  // One after the other: the stream's end may be seen while the last message is being stored.
  let work = Promise.resolve();
  const then = (step: () => void | Promise<void>) => {
    work = work.then(step);
    work.catch((error: unknown) => call.emit("error", statusOf(error)));
  };
  call.on("data", (request: IngestRequest__Output) => {
    call.pause();
    then(async () => {
      const acks = await store(memory, request);
      if (!call.cancelled && !call.write({ acks, bootId })) await room(call);
      call.resume();
    });
  });
  call.on("end", () => then(() => void call.end()));
}

/** Waits until the rig has read what it was sent, or has gone. */
function room(call: Ingest): Promise<void> {
  return new Promise((resolve) => {
    for (const event of ["drain", "cancelled", "close"]) call.once(event, () => resolve());
  });
}

async function store(memory: Memory, request: IngestRequest__Output): Promise<IngestAck[]> {
  const acks: IngestAck[] = [];
  for (const episode of episodesOf(request.episodes)) {
    const stored = await memory.ingest(episode);
    acks.push({
      episodeId: episode.episodeId,
      status: stored === null ? "INGEST_STATUS_DUPLICATE" : "INGEST_STATUS_STORED",
      storedItems: stored ?? 0,
    });
  }
  return acks;
}

/** The status of an error; what is not meant for the caller goes to the log (§15). */
function statusOf(error: unknown): Partial<StatusObject> {
  if (error instanceof StatusError) return { code: error.code, details: error.message };
  console.error(error);
  return { code: status.INTERNAL, details: String(error).slice(0, 500) };
}
