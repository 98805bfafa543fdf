// Cuts an episode into what is indexed: its turns, or chunks of its text. Sources are kept.

export interface Time {
  seconds: number;
  nanos: number;
}

export interface Turn {
  turnId: string;
  speaker: string;
  text: string;
}

export interface Episode {
  episodeId: string;
  text: string;
  timestamp: Time | null;
  turns: readonly Turn[];
}

export interface Passage {
  refId: string;
  text: string;
  episodeId: string;
  turnId: string | null;
  timestamp: Time | null;
}

/** Short enough for ten of them to fit a reader's context. */
const MAX_CHARACTERS = 1200;

export function passagesOf(episode: Episode): Passage[] {
  const passage = (text: string, turnId: string | null, number: number): Passage => ({
    refId: `${episode.episodeId}#${number}`,
    text,
    episodeId: episode.episodeId,
    turnId,
    timestamp: episode.timestamp,
  });
  const said = episode.turns.filter((turn) => turn.text.trim() !== "");
  if (said.length > 0) {
    return said.map((turn, number) =>
      passage(turn.speaker ? `${turn.speaker}: ${turn.text}` : turn.text, turn.turnId, number),
    );
  }
  return chunksOf(episode.text).map((text, number) => passage(text, null, number));
}

/** Slices of a text, each cut behind a sentence, a line or a word where there is one. */
export function chunksOf(text: string): string[] {
  const chunks: string[] = [];
  let begin = 0;
  while (text.length - begin > MAX_CHARACTERS) {
    const end = begin + cutOf(text.slice(begin, begin + MAX_CHARACTERS));
    chunks.push(text.slice(begin, end));
    begin = end;
  }
  chunks.push(text.slice(begin));
  const full = chunks.filter((chunk) => chunk.trim() !== "");
  return full.length > 0 ? full : [text];
}

/** Where to cut a window: the last good place in its second half, else its end. */
function cutOf(window: string): number {
  for (const end of [/[.!?…]["'”’)\]]*\s|\n/g, /\s/g]) {
    const places = [...window.matchAll(end)].map((match) => match.index + match[0].length);
    const last = places.at(-1);
    if (last !== undefined && last > window.length / 2) return last;
  }
  const code = window.charCodeAt(window.length - 1); // never between the halves of a character
  return code >= 0xd800 && code <= 0xdbff ? window.length - 1 : window.length;
}
