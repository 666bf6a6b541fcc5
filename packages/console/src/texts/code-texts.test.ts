import { sessionStatusTexts as english, reasonTexts, SessionStatus } from '@wheelhouse/protocol'
import { expect, test } from 'vitest'
import {
  closeText,
  codeTables,
  eventTitle,
  reasonText,
  sessionStatusTexts,
  speedLimitText,
} from './code-texts.ts'
import de from './de.json' with { type: 'json' }
import en from './en.json' with { type: 'json' }

/** Returns the paths of all texts of a table: `session.paused`. */
const codesIn = (table: object, prefix = ''): string[] =>
  Object.entries(table)
    .flatMap(([name, text]) =>
      typeof text === 'string' ? [prefix + name] : codesIn(text, `${prefix}${name}.`),
    )
    .sort()

test.each(Object.entries(codeTables))(
  'the German catalogue has every code of %s and no other',
  (name, table) => {
    const translated = (de.codes as Readonly<Record<string, object>>)[name] ?? {}
    const withText = Object.entries(table).flatMap(([code, text]) => (text === '' ? [] : [code]))
    expect(codesIn(translated)).toEqual(withText.sort())
  },
)

test('the English catalogue repeats no text of the protocol', () => {
  expect(en).not.toHaveProperty('codes')
})

test('a code without a translation has the text of the protocol', () => {
  expect(SessionStatus.options.map((status) => sessionStatusTexts[status])).toEqual(
    SessionStatus.options.map((status) => english[status]),
  )
  expect(reasonText('robot_lost')).toBe(reasonTexts.robot_lost)
  expect(eventTitle('session.stop_cleared')).toBe('The stop was cleared')
  expect(closeText(4_001)).toBe(undefined)
})

test('an unknown code becomes words, and the reason of a participant stays unchanged', () => {
  expect(reasonText('gripper_stuck')).toBe('gripper stuck')
  expect(reasonText('Kabel im Weg {{x}}')).toBe('Kabel im Weg {{x}}')
  expect(reasonText(null)).toBe('')
  expect(reasonText('ended')).toBe('')
  expect(eventTitle('arm.parked')).toBe('Arm parked')
})

test('a speed limit names its reason', () => {
  expect(speedLimitText({ speed_scale: 1, reason: null })).toBe(undefined)
  expect(speedLimitText({ speed_scale: 0.5, reason: null })).toBe('Speed limited to 50%')
  expect(speedLimitText({ speed_scale: 0.5, reason: 'latency' })).toBe(
    'Speed limited to 50%: commands take long',
  )
  expect(speedLimitText({ speed_scale: 0.5, reason: 'arm_out' })).toBe('Speed limited to 50%: arm out')
})
