import { expect, test } from 'vitest'
import { createShortcutMatcher, type KeyPress, type Shortcut } from './shortcuts.ts'

const shortcut = (...keys: string[]): Shortcut => ({
  keys,
  label: keys.join(' '),
  group: 'Test',
  run: () => undefined,
})
const shortcuts = [shortcut('g', 'h'), shortcut('g', 'r'), shortcut('?'), shortcut('mod+k')]

function typing() {
  const clock = { ms: 0 }
  const match = createShortcutMatcher(() => clock.ms)
  const press = (key: string, change: Partial<KeyPress> = {}) =>
    match({ key, code: '', ctrlKey: false, metaKey: false, altKey: false, ...change }, shortcuts)?.label
  return { clock, press }
}

test('a sequence needs its keys in order and in time', () => {
  const { clock, press } = typing()
  expect([press('g'), press('r')]).toEqual([undefined, 'g r'])
  expect(press('r')).toBeUndefined()
  press('g')
  clock.ms += 2_000
  expect(press('h')).toBeUndefined()
})

test('a wrong key ends a sequence, and may begin another one', () => {
  const { press } = typing()
  expect([press('g'), press('g'), press('h')]).toEqual([undefined, undefined, 'g h'])
  expect([press('g'), press('x'), press('h')]).toEqual([undefined, undefined, undefined])
  expect([press('g'), press('?')]).toEqual([undefined, '?'])
})

test('Ctrl and ⌘ are the same, other combinations are not for shortcuts', () => {
  const { press } = typing()
  expect(press('k')).toBeUndefined()
  expect(press('K', { ctrlKey: true })).toBe('mod+k')
  expect(press('k', { metaKey: true })).toBe('mod+k')
  expect([press('g'), press('r', { ctrlKey: true })]).toEqual([undefined, undefined])
  expect([press('g', { altKey: true }), press('h')]).toEqual([undefined, undefined])
})

test('a layout without Latin letters has the shortcuts at the positions of an English keyboard', () => {
  const { press } = typing()
  expect([press('п', { code: 'KeyG' }), press('р', { code: 'KeyH' })]).toEqual([undefined, 'g h'])
  expect(press('Л', { code: 'KeyK', ctrlKey: true })).toBe('mod+k')
  // On a layout with Latin letters, what a key types counts.
  expect([press('g', { code: 'KeyU' }), press('r', { code: 'KeyH' })]).toEqual([undefined, 'g r'])
})
