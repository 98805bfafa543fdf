// What comes over the wire, checked: whatever breaks the contract is INVALID_ARGUMENT, with the
// field and the value. The numbers are sections of memrig's docs/protocol.md.

import { status } from "@grpc/grpc-js";

import type { Episode__Output as WireEpisode } from "./contract/memrig/v1/Episode";
import type { Filter__Output as WireFilter } from "./contract/memrig/v1/Filter";
import type { SearchRequest__Output as WireSearch } from "./contract/memrig/v1/SearchRequest";
import type { TimeFilter } from "./memory";
import type { Episode, Time } from "./passages";

export const MAX_RESULTS = 1000;
const MAX_EPISODES = 256;
const MAX_QUERY_BYTES = 64 * 1024;
/** The years 1 to 9999 (§1.5). */
const FIRST_SECOND = -62135596800;
const LAST_SECOND = 253402300799;

/** A status that a call ends with. */
export class StatusError extends Error {
  constructor(
    readonly code: status,
    message: string,
  ) {
    super(message);
  }
}

export function invalid(message: string): StatusError {
  return new StatusError(status.INVALID_ARGUMENT, message);
}

/** A message's episodes (§6.12, §16). All are checked before any is stored. */
export function episodesOf(episodes: readonly WireEpisode[]): Episode[] {
  if (episodes.length > MAX_EPISODES) throw invalid(`episodes: ${episodes.length}, at most ${MAX_EPISODES}`);
  return episodes.map((episode) => {
    if (!episode.episodeId) throw invalid("episode_id: empty");
    if (!episode.text) throw invalid(`text: empty in episode ${episode.episodeId}`);
    if (episode.turns.some((turn) => !turn.turnId)) {
      throw invalid(`turn_id: empty in episode ${episode.episodeId}`);
    }
    const { episodeId, text, turns } = episode;
    return { episodeId, text, turns, timestamp: timeOf(episode.timestamp, episodeId) };
  });
}

function timeOf(time: Time | null, episodeId: string): Time | null {
  if (time === null) return null;
  const { seconds, nanos } = time;
  if (seconds < FIRST_SECOND || seconds > LAST_SECOND || nanos < 0 || nanos > 999999999) {
    throw invalid(`timestamp: ${seconds} s, ${nanos} ns in episode ${episodeId}`);
  }
  return { seconds, nanos };
}

export interface Search {
  query: string;
  limit: number;
  filters: TimeFilter[];
}

/** A search (§8, §9). What is not declared in Capabilities is refused. */
export function searchOf(request: WireSearch): Search {
  const { query, limit, mode } = request;
  if (!query) throw invalid("query: empty");
  const bytes = Buffer.byteLength(query);
  if (bytes > MAX_QUERY_BYTES) throw invalid(`query: ${bytes} bytes, at most ${MAX_QUERY_BYTES}`);
  if (limit < 1 || limit > MAX_RESULTS) throw invalid(`limit: ${limit}, 1 to ${MAX_RESULTS}`);
  if (mode !== "SEARCH_MODE_UNSPECIFIED" && mode !== "SEARCH_MODE_KEYWORD") {
    throw invalid(`mode: ${mode} is not declared`);
  }
  if (request.asOf !== null) throw invalid("as_of: not supported");
  return { query, limit, filters: request.filters.map(filterOf) };
}

const OPERATORS = new Map<unknown, TimeFilter["operator"]>([
  ["FILTER_OPERATOR_EQUAL", "=="],
  ["FILTER_OPERATOR_GREATER_OR_EQUAL", ">="],
  ["FILTER_OPERATOR_LESS", "<"],
]);

function filterOf(filter: WireFilter): TimeFilter {
  if (filter.field !== "timestamp") throw invalid(`filter: field ${filter.field} is not declared`);
  const operator = OPERATORS.get(filter.operator);
  if (operator === undefined) throw invalid(`filter: operator ${filter.operator}`);
  return { operator, value: instantOf(filter.value) };
}

/** A time in RFC 3339, in UTC, to the nanosecond (§9.3). */
export function instantOf(text: string): Time {
  const [, second = "", fraction = ""] =
    /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z$/.exec(text) ?? [];
  const milliseconds = Date.parse(`${second}Z`);
  // The 30th of February parses, as a day in March.
  if (Number.isNaN(milliseconds) || new Date(milliseconds).toISOString().slice(0, 19) !== second) {
    throw invalid(`filter: ${text} is no time in RFC 3339, in UTC`);
  }
  return { seconds: milliseconds / 1000, nanos: Number(fraction.padEnd(9, "0")) };
}

/** The ids of a Forget (§13.4). */
export function idsOf(ids: readonly string[]): readonly string[] {
  if (ids.length < 1 || ids.length > 256) throw invalid(`episode_ids: ${ids.length}, 1 to 256`);
  if (ids.some((id) => !id)) throw invalid("episode_ids: an empty one");
  return ids;
}
