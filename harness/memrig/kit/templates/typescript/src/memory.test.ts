// What the memory does, without a server; `memrig conformance .` asks over the contract.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { Memory } from "./memory";
import { chunksOf, type Episode } from "./passages";
import { instantOf } from "./requests";

const MOVED: Episode = {
  episodeId: "e1",
  text: "Nadia: We moved to Bergen.\nOle: Is it far?",
  timestamp: instantOf("2031-05-02T00:00:00Z"),
  turns: [
    { turnId: "t1", speaker: "Nadia", text: "We moved to Bergen." },
    { turnId: "t2", speaker: "Ole", text: "Is it far?" },
  ],
};
const BOAT: Episode = {
  episodeId: "e2",
  text: "The boat to Bergen leaves at nine.",
  timestamp: instantOf("2031-06-02T00:00:00Z"),
  turns: [],
};

let memory: Memory;

beforeEach(async () => {
  memory = new Memory();
  for (const episode of [MOVED, BOAT]) await memory.ingest(episode);
});

test("a turn is found with its sources", async () => {
  const [best] = await memory.search("Who moved to Bergen?", 5, []);
  assert.equal(best?.passage.text, "Nadia: We moved to Bergen.");
  assert.deepEqual([best?.passage.episodeId, best?.passage.turnId], ["e1", "t1"]);
});

test("filters hold before the limit", async () => {
  const sinceJune = { operator: ">=", value: instantOf("2031-06-02T00:00:00Z") } as const;
  const hits = await memory.search("moved to Bergen", 1, [sinceJune]);
  assert.deepEqual(hits.map((hit) => hit.passage.episodeId), ["e2"]);
});

test("a known episode is not stored again", async () => {
  assert.equal(await memory.ingest(BOAT), null);
  assert.equal(await memory.flush(), 3);
});

test("what is forgotten is gone, and may be told again", async () => {
  assert.equal(await memory.forget(["e2", "unknown"]), 1);
  assert.deepEqual(await memory.search("boat", 1, []), []);
  assert.equal(await memory.retrieve("e2#0"), null);
  assert.equal(await memory.ingest(BOAT), 1);
});

test("a reset memory is empty, known ids included", async () => {
  await memory.reset();
  assert.equal(await memory.flush(), 0);
  assert.equal(await memory.ingest(MOVED), 2);
});

test("chunks of a long text are slices of it, none too long", () => {
  const text = "Nine boats leave. ".repeat(500) + "x".repeat(5000);
  const chunks = chunksOf(text);
  assert.equal(chunks.join(""), text);
  assert.ok(chunks.every((chunk) => chunk.length <= 1200));
});

test("a time that does not exist is refused", () => {
  assert.throws(() => instantOf("2031-02-30T00:00:00Z"), /RFC 3339/);
  assert.deepEqual(instantOf("1970-01-01T00:00:01.5Z"), { seconds: 1, nanos: 500000000 });
});
