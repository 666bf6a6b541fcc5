import { expect, test } from 'vitest'
import { translationsOf } from './languages.ts'

const english = {
  common: { cancel: 'Cancel' },
  session: { cancel: 'Cancel', clear: 'Clear stop' },
  admin: { approve: 'Approve {{name}} for {{type}}', any: '{{name}}' },
}
const german = {
  common: { cancel: 'Abbrechen' },
  session: { cancel: 'Absagen', clear: 'Halt aufheben' },
  admin: { approve: '{{name}} für {{type}} zulassen', any: '{{name}}' },
}

test('a text has the translations of all its keys, with its values in their places', () => {
  expect(translationsOf('Cancel', english, german)).toEqual(['Abbrechen', 'Absagen'])
  expect(translationsOf('Clear stop', english, german)).toEqual(['Halt aufheben'])
  expect(translationsOf('Approve Ada (new) for crane', english, german)).toEqual([
    'Ada (new) für crane zulassen',
  ])
  expect(translationsOf('Ada', english, german)).toEqual([])
})
