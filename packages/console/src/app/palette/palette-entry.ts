/** A page, a command or a search result of the palette. */
export interface PaletteEntry {
  readonly id: string
  readonly group: string
  readonly label: string
  readonly detail: string
  readonly run: () => void
}

/** Returns whether an entry contains all words of a text. */
export function matchesAll({ label, detail }: PaletteEntry, text: string): boolean {
  const searched = `${label} ${detail}`.toLowerCase()
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => searched.includes(word))
}
