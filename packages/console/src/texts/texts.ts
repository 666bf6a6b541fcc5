import i18next, { type ParseKeys } from 'i18next'
import en from './en.json' with { type: 'json' }
import { chosenLanguage, type Language, languageOf } from './languages.ts'

// One file for each language holds all texts of the console. Its keys are the folders of `src`, then the place of the text. The
// English catalogue types the keys.

declare module 'i18next' {
  interface CustomTypeOptions {
    resources: { translation: typeof en }
  }
}

/** The key of a text in the catalogue. */
export type TextKey = ParseKeys

type Catalogue = Readonly<Record<string, unknown>>

/** The catalogues that are loaded only where they are needed. The English one is part of the first script. */
const loaders: Readonly<Record<Exclude<Language, 'en'>, () => Promise<{ default: Catalogue }>>> = {
  de: () => import('./de.json', { with: { type: 'json' } }),
}

const preferred = globalThis.navigator?.languages ?? []

/** The user's choice, otherwise the first one of the browser's languages that has a catalogue. */
const wanted: Language = chosenLanguage() ?? languageOf(preferred) ?? 'en'

/** Loads a catalogue; undefined for the English one, and without the network. Modules that read texts load after it. */
const load = async (wanted: Language) =>
  wanted === 'en' ? undefined : (await loaders[wanted]().catch(() => undefined))?.default

const translation = await load(wanted)
const shown: Language = translation ? wanted : 'en'

/**
 * The language of all texts, numbers and dates, as a BCP 47 tag: the viewer's variety of the language of the catalogue, such as
 * `en-GB`, because dates differ between countries.
 */
export const language: string = preferred.find((tag) => languageOf([tag]) === shown) ?? shown

const texts = i18next.createInstance()
// Synchronous, so that modules may read texts while they load.
void texts.init({
  lng: language,
  fallbackLng: 'en',
  resources: { en: { translation: en }, ...(translation && { [shown]: { translation } }) },
  initAsync: false,
  interpolation: { escapeValue: false }, // React escapes
  returnEmptyString: false,
})

/**
 * Returns the text of a key in the viewer's language. `{{name}}` in a text is replaced by the option of that name, `{{name, number}}`
 * by that number in the viewer's format. The option `count` selects between the keys that end in `_one` and `_other`.
 */
export const t = texts.t
