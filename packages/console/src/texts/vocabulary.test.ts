import { robotStateTexts, robotStatusTexts } from '@wheelhouse/protocol'
import { expect, test } from 'vitest'
import de from './de.json' with { type: 'json' }
import en from './en.json' with { type: 'json' }

// A robot has one word for what it does, on every page: that of `robotStatusTexts` or `robotStateTexts`. These labels would be a second one.
const secondWords = {
  en: /^(online|available|free|idle|busy|in a session|in use|halted|disconnected|remote stop|emergency stop|e-stop)$/i,
  de: /^(online|verfügbar|frei|untätig|belegt|in einer sitzung|in gebrauch|angehalten|verloren|fernstopp|not-halt|notstopp)$/i,
}

/** Labels that use such a word for something else: money, a connection, a part of the page, the reason of an event. */
const otherMeanings = [
  'operator.earnings.available',
  'drive.link.ended',
  'drive.stop.label',
  'session.stopBar.label',
  'codes.reason.emergency_stop',
  'replay.state.halted',
]

/** Returns the texts of a catalogue by their keys. */
const textsOf = (part: object, prefix = ''): (readonly [key: string, text: string])[] =>
  Object.entries(part).flatMap(([name, text]) =>
    typeof text === 'string' ? [[prefix + name, text] as const] : textsOf(text, `${prefix}${name}.`),
  )

test.each([
  ['en', en, secondWords.en],
  ['de', de, secondWords.de],
] as const)('no label is a second word for a state of a robot: %s', (_language, catalogue, words) => {
  const found = textsOf(catalogue).filter(([key, text]) => words.test(text) && !otherMeanings.includes(key))
  expect(found).toEqual([])
})

test('status and state of a robot use the same words', () => {
  expect(robotStatusTexts.AVAILABLE).toBe(robotStateTexts.READY)
  expect(robotStatusTexts.OFFLINE).toBe(robotStateTexts.OFFLINE)
  expect(de.codes.robotStatus.AVAILABLE).toBe(de.codes.robotState.READY)
})
