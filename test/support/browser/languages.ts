import { readdirSync } from 'node:fs'

const folder = new URL('../../../packages/console/src/texts/', import.meta.url)

/** The languages of the console: it has one catalogue of texts for each. */
export const LANGUAGES = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .map((name) => name.slice(0, -'.json'.length))

/** Returns the locale of a browser whose user reads a language. */
export const localeOf = (language: string): string => (language === 'en' ? 'en-GB' : language)
