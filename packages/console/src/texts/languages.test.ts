import { expect, test } from 'vitest'
import { languageOf } from './languages.ts'

test.each([
  [['de-AT', 'en'], 'de'],
  [['fr-FR', 'en-GB', 'de'], 'en'],
  [['DE'], 'de'],
  [['den', 'fr'], undefined],
  [['constructor'], undefined],
  [[], undefined],
])('of the languages %j the console shows %s', (tags, language) => {
  expect(languageOf(tags)).toBe(language)
})
