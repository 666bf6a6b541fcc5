import { readdirSync, readFileSync } from 'node:fs'

const folder = new URL('../../../packages/console/src/texts/', import.meta.url)

type Catalogue = { readonly [key: string]: string | Catalogue }

/** The languages of the console: it has one catalogue of texts for each. */
export const LANGUAGES = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .map((name) => name.slice(0, -'.json'.length))

/** Returns the locale of a browser whose user reads a language. */
export const localeOf = (language: string): string => (language === 'en' ? 'en-GB' : language)

const readCatalogue = (language: string): Catalogue =>
  JSON.parse(readFileSync(new URL(`${language}.json`, folder), 'utf8'))

const textsOf = (catalogue: Catalogue, path = ''): (readonly [key: string, text: string])[] =>
  Object.entries(catalogue).flatMap(([key, value]) =>
    typeof value === 'string' ? [[path + key, value] as const] : textsOf(value, `${path}${key}.`),
  )

const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
const PARAM = /\{\{(\w+)[^}]*\}\}/

/** Returns the values of a template's parameters in a text that it made; undefined for other texts. */
function valuesIn(text: string, template: string): Readonly<Record<string, string>> | undefined {
  const parts = template.split(PARAM)
  if (parts.every((part, index) => index % 2 === 1 || part === '')) return undefined
  const pattern = parts
    .map((part, index) => {
      if (index % 2 === 0) return escaped(part)
      const first = parts.findIndex((other, at) => at % 2 === 1 && other === part)
      return first < index ? `\\k<${part}>` : `(?<${part}>.+)`
    })
    .join('')
  const match = new RegExp(`^${pattern}$`).exec(text)
  return match ? { ...match.groups } : undefined
}

/**
 * Returns the texts of another catalogue that have the key of an English text. Several keys may have the same English text.
 * `valueIn` translates the values in them.
 */
export function translationsOf(
  text: string,
  english: Catalogue,
  other: Catalogue,
  valueIn = (value: string) => value,
): string[] {
  const translated = new Map(textsOf(other))
  return textsOf(english).flatMap(([key, template]) => {
    const [values, translation] = [valuesIn(text, template), translated.get(key)]
    if (!values || translation === undefined) return []
    return [
      translation.replaceAll(new RegExp(PARAM, 'g'), (_whole, name: string) => valueIn(values[name] ?? '')),
    ]
  })
}

/** Returns a function that translates the name of a week day. Other values, such as names of robots, have no language. */
function weekdayIn(language: string): (value: string) => string {
  const weekdays = (locale: string) => {
    const { format } = new Intl.DateTimeFormat(locale, { weekday: 'long', timeZone: 'UTC' })
    return Array.from({ length: 7 }, (_, day) => format(new Date(Date.UTC(2_024, 0, 1 + day))))
  }
  const [english, other] = [weekdays('en'), weekdays(language)]
  return (value) => other[english.indexOf(value)] ?? value
}

/**
 * Returns a function from an English text of the console to the pattern of the same text in a language. A text that is in no catalogue
 * stays untranslated, because names of users and robots have no language. A text that ends in `…` is the beginning of the pattern.
 */
export function labelsIn(language: string): (english: string) => RegExp {
  const [english, other] = [readCatalogue('en'), readCatalogue(language)]
  return (pattern) => {
    const text = pattern.replace(/…$/, '')
    const end = text === pattern ? '$' : ''
    const translations = language === 'en' ? [] : translationsOf(text, english, other, weekdayIn(language))
    const alternatives = translations.length > 0 ? translations : [text]
    return new RegExp(`^(${alternatives.map(escaped).join('|')})${end}`)
  }
}
