import { expect, test } from 'vitest'
import { stopKeyOf } from './stop.ts'

test.each([
  ['Escape', { key: 'Escape', code: 'Escape' }, 'Escape'],
  ['another key that types Escape', { key: 'Escape', code: 'CapsLock' }, 'Escape'],
  ['Escape that types something else', { key: 'CapsLock', code: 'Escape' }, 'Escape'],
  ['Escape of a keyboard without positions', { key: 'Escape', code: '' }, 'Escape'],
  ['Space', { key: ' ', code: 'Space' }, 'Space'],
  ['Space that types a no-break space', { key: '\u00a0', code: 'Space' }, 'Space'],
  ['Space of a keyboard without positions', { key: ' ', code: '' }, 'Space'],
  ['another key', { key: 'e', code: 'KeyE' }, undefined],
] as const)('%s', (_name, press, stopKey) => {
  expect(stopKeyOf(press)).toBe(stopKey)
})
