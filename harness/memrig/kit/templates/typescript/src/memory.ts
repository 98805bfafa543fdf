// The memory. It works as it stands: Okapi BM25 (k1 1.5, b 0.75) over passages. Put your memory
// system here, and keep what `Memory` promises: sources are carried through, a known episode is
// not stored twice, filters hold before the limit, and what was forgotten is gone.

import { type Episode, type Passage, type Time, passagesOf } from "./passages";

export interface TimeFilter {
  operator: "==" | ">=" | "<";
  value: Time;
}

export interface Scored {
  passage: Passage;
  score: number;
}

const K1 = 1.5;
const B = 0.75;

/** The words of a text in lower case. No character of a query is syntax. */
export function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
}

export class Memory {
  private counts = new Map<string, Map<number, number>>();
  private lengths = new Map<number, number>();
  private passages = new Map<number, Passage>();
  private byRef = new Map<string, number>();
  private byEpisode = new Map<string, number[]>();
  private words = 0;
  private next = 0;

  /** How many passages it holds. */
  get size(): number {
    return this.passages.size;
  }

  /** Empties the memory, known ids included. */
  async reset(): Promise<void> {
    for (const map of [this.counts, this.lengths, this.passages, this.byRef, this.byEpisode]) {
      map.clear();
    }
    this.words = 0;
  }

  /** Returns how many passages were stored, or null for an episode that is known. */
  async ingest(episode: Episode): Promise<number | null> {
    if (this.byEpisode.has(episode.episodeId)) return null;
    const numbers = passagesOf(episode).map((passage) => this.store(passage));
    this.byEpisode.set(episode.episodeId, numbers);
    return numbers.length;
  }

  /** Has nothing to wait for. If yours indexes in the background, wait for it here. */
  async flush(): Promise<number> {
    return this.size;
  }

  /** The best passages that pass all filters; ties in the order of ingestion. */
  async search(query: string, limit: number, filters: readonly TimeFilter[]): Promise<Scored[]> {
    const found: [number, Scored][] = [];
    for (const [number, score] of this.scores(query)) {
      const passage = this.passages.get(number)!;
      if (filters.every((filter) => passes(passage.timestamp, filter))) {
        found.push([number, { passage, score }]);
      }
    }
    found.sort(([a, x], [b, y]) => y.score - x.score || a - b);
    return found.slice(0, limit).map(([, scored]) => scored);
  }

  /** One passage in full; null where there is none. */
  async retrieve(refId: string): Promise<Passage | null> {
    const number = this.byRef.get(refId);
    return number === undefined ? null : this.passages.get(number)!;
  }

  /** Removes episodes and all that was made of them; returns how many were known. */
  async forget(episodeIds: readonly string[]): Promise<number> {
    const known = [...new Set(episodeIds)].filter((id) => this.byEpisode.has(id));
    for (const id of known) {
      for (const number of this.byEpisode.get(id)!) this.remove(number);
      this.byEpisode.delete(id);
    }
    return known.length;
  }

  private store(passage: Passage): number {
    const number = this.next++;
    const words = wordsOf(passage.text);
    for (const word of words) {
      const holders = this.counts.get(word) ?? new Map<number, number>();
      holders.set(number, (holders.get(number) ?? 0) + 1);
      this.counts.set(word, holders);
    }
    this.lengths.set(number, words.length);
    this.words += words.length;
    this.passages.set(number, passage);
    this.byRef.set(passage.refId, number);
    return number;
  }

  private remove(number: number): void {
    const passage = this.passages.get(number)!;
    for (const word of new Set(wordsOf(passage.text))) {
      const holders = this.counts.get(word)!;
      holders.delete(number);
      if (holders.size === 0) this.counts.delete(word);
    }
    this.words -= this.lengths.get(number)!;
    this.lengths.delete(number);
    this.byRef.delete(passage.refId);
    this.passages.delete(number);
  }

  /** A score above 0 for every passage that holds a word of the query. */
  private scores(query: string): Map<number, number> {
    const found = new Map<number, number>();
    const average = this.words / this.size;
    for (const word of new Set(wordsOf(query))) {
      const holders = this.counts.get(word) ?? new Map<number, number>();
      const weight = Math.log(1 + (this.size - holders.size + 0.5) / (holders.size + 0.5));
      for (const [number, count] of holders) {
        const length = 1 - B + (B * this.lengths.get(number)!) / average;
        const score = (weight * count * (K1 + 1)) / (count + K1 * length);
        found.set(number, (found.get(number) ?? 0) + score);
      }
    }
    return found;
  }
}

/** Whether a time meets a condition; one that is not known meets none. */
function passes(time: Time | null, { operator, value }: TimeFilter): boolean {
  if (time === null) return false;
  const order = time.seconds - value.seconds || time.nanos - value.nanos;
  if (operator === "==") return order === 0;
  return operator === "<" ? order < 0 : order >= 0;
}
