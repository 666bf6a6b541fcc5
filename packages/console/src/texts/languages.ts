/** The languages that have a catalogue, by their names in themselves. */
export const LANGUAGES = { en: 'English', de: 'Deutsch' } as const

/** A language with a catalogue, as an ISO 639 code. */
export type Language = keyof typeof LANGUAGES

const STORED_AS = 'wheelhouse-language'

/** Returns whether a text is the code of a language that the console has. */
export const isLanguage = (text: string | null): text is Language =>
  text !== null && Object.hasOwn(LANGUAGES, text)

/** Returns the first language of BCP 47 tags, such as `de-AT`, that has a catalogue. */
export const languageOf = (tags: readonly string[]): Language | undefined =>
  tags.map((tag) => tag.toLowerCase().split('-')[0] ?? '').find(isLanguage)

/** Returns the language that the user has chosen in this browser. Without a choice the browser's languages decide. */
export function chosenLanguage(): Language | undefined {
  try {
    const stored = globalThis.localStorage?.getItem(STORED_AS) ?? null
    return isLanguage(stored) ? stored : undefined
  } catch {
    return undefined // a browser may forbid storage
  }
}

/**
 * Stores the choice and reloads the page, because modules have read texts already. Undefined: the browser's languages decide.
 * @throws DOMException if the browser forbids storage
 */
export function chooseLanguage(choice: Language | undefined): void {
  if (choice === undefined) localStorage.removeItem(STORED_AS)
  else localStorage.setItem(STORED_AS, choice)
  location.reload()
}
