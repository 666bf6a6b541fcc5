import i18next, { type ParseKeys } from 'i18next'
import en from './en.json' with { type: 'json' }

// One file for each language holds all texts of the console. Its keys are the folders of `src`, then the place of the text. The
// English catalogue types the keys.

declare module 'i18next' {
  interface CustomTypeOptions {
    resources: { translation: typeof en }
  }
}

/** The key of a text in the catalogue. */
export type TextKey = ParseKeys

const CATALOGUE = 'en'

/**
 * The language of all texts, numbers and dates, as a BCP 47 tag: the viewer's variety of the language of the catalogue, such as
 * `en-GB`, because dates differ between countries.
 */
export const language: string =
  globalThis.navigator?.languages?.find((tag) => tag.startsWith(`${CATALOGUE}-`)) ?? CATALOGUE

const texts = i18next.createInstance()
// Synchronous, so that modules may read texts while they load.
void texts.init({
  lng: language,
  fallbackLng: CATALOGUE,
  resources: { [CATALOGUE]: { translation: en } },
  initAsync: false,
  interpolation: { escapeValue: false }, // React escapes
  returnEmptyString: false,
})

/**
 * Returns the text of a key in the viewer's language. `{{name}}` in a text is replaced by the option of that name, `{{name, number}}`
 * by that number in the viewer's format. The option `count` selects between the keys that end in `_one` and `_other`.
 */
export const t = texts.t
