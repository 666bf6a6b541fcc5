import { useWindowEvent } from '@mantine/hooks'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { isTyping, latinKey } from '../base/keys.ts'
import { createStore } from '../base/store.ts'
import { t } from '../texts/texts.ts'
import { type NavigationEntry, useNavigation } from './navigation.ts'

export const paletteOpened = createStore(false)
export const sheetOpened = createStore(false)

/** The key after `g` that opens a page, by the path of its navigation entry. */
const goKeys: Readonly<Record<string, string>> = {
  '/sessions': 's',
  '/available': 'a',
  '/certifications': 'c',
  '/schedule': 'w',
  '/earnings': 'e',
  '/live': 'l',
  '/robots': 'r',
  '/datasets': 'd',
  '/invoices': 'i',
  '/statistics': 't',
  '/admin': 'o',
  '/admin/sessions': 'v',
  '/admin/robots': 'b',
  '/admin/users': 'p',
  '/admin/messages': 'm',
  '/admin/jobs': 'j',
  '/admin/audit': 'u',
  '/settings': ',',
}

function focusSearch(): void {
  document.querySelector<HTMLInputElement>('main [type=search]')?.focus()
}

export function useShortcutList(): readonly Shortcut[] {
  const navigate = useNavigate()
  const entries = useNavigation().flatMap((group) => group.entries)
  const goTo = ({ to, label }: Pick<NavigationEntry, 'to' | 'label'>, key: string): Shortcut => ({
    keys: ['g', key],
    label,
    group: t('app.shortcuts.goTo'),
    run: () => void navigate({ to }),
  })
  const general = (key: string, label: string, run: () => void): Shortcut => ({
    keys: [key],
    label,
    group: t('app.shortcuts.general'),
    run,
  })
  return [
    general('mod+k', t('app.shortcuts.palette'), () => paletteOpened.set(true)),
    general('?', t('app.shortcuts.sheet'), () => sheetOpened.set(true)),
    general('/', t('app.shortcuts.search'), focusSearch),
    goTo({ to: '/', label: t('common.home') }, 'h'),
    ...entries.flatMap((entry) => {
      const key = goKeys[entry.to]
      return key === undefined ? [] : [goTo(entry, key)]
    }),
  ]
}

/** Runs shortcuts by key while the component is mounted, except while the user types or a dialog is open. */
export function useShortcuts(): void {
  const shortcuts = useShortcutList()
  const [match] = useState(() => createShortcutMatcher(() => performance.now()))
  useWindowEvent('keydown', (event) => {
    if (event.defaultPrevented || event.repeat || event.isComposing) return
    if (document.querySelector('[role=dialog]') !== null) return
    const isCombination = event.ctrlKey || event.metaKey
    if (isTyping() && !isCombination) return
    const shortcut = match(event, shortcuts)
    if (!shortcut) return
    event.preventDefault()
    shortcut.run()
  })
}

/** A key sequence and what it does. The handler and the sheet of shortcuts read the same list. */
export interface Shortcut {
  /** The keys, one after another: a character as the layout types it (see `latinKey`), or `mod+k` with Ctrl or ⌘. */
  readonly keys: readonly string[]
  readonly label: string
  readonly group: string
  readonly run: () => void
}

/** A key press, as the matcher reads it. */
export type KeyPress = Pick<KeyboardEvent, 'key' | 'code' | 'ctrlKey' | 'metaKey' | 'altKey'>

/** How long a sequence waits for its next key. */
const SEQUENCE_MS = 1_500

/** Returns the spelling of a key press in a shortcut; undefined for a combination that no shortcut uses. */
function spelled(press: KeyPress): string | undefined {
  if (press.altKey || press.key.length !== 1) return undefined
  const key = latinKey(press)
  return press.ctrlKey || press.metaKey ? `mod+${key}` : key
}

const beginsWith = (keys: readonly string[], typed: readonly string[]) =>
  typed.every((key, index) => keys[index] === key)

/**
 * Creates the function that returns the shortcut which a key press completes. Other keys end a sequence that has begun.
 * @param nowMs a monotonic clock
 */
export function createShortcutMatcher(nowMs: () => number) {
  let typed: readonly string[] = []
  let typedAtMs = 0
  return (press: KeyPress, shortcuts: readonly Shortcut[]): Shortcut | undefined => {
    const key = spelled(press)
    const previous = nowMs() - typedAtMs < SEQUENCE_MS ? typed : []
    typed = []
    if (key === undefined) return undefined
    for (const sequence of [[...previous, key], [key]]) {
      const matching = shortcuts.filter(({ keys }) => beginsWith(keys, sequence))
      const complete = matching.find(({ keys }) => keys.length === sequence.length)
      if (complete) return complete
      if (matching.length > 0) {
        typed = sequence
        typedAtMs = nowMs()
        return undefined
      }
    }
    return undefined
  }
}

const isApple = /Mac|iPhone|iPad/.test(navigator.platform)

/** Returns a key of a shortcut as keyboards name it, such as `Ctrl K` or `⌘ K`. */
export const keyLabel = (key: string): string =>
  key.startsWith('mod+') ? `${isApple ? '⌘' : t('app.shortcuts.ctrl')} ${key.slice(4).toUpperCase()}` : key

/**
 * Returns `opened`, but false in the first render. A dialog remembers the focused element when it opens, which needs a render
 * before.
 */
export function useOpenedAfterMount(opened: boolean): boolean {
  const [shown, setShown] = useState(false)
  useEffect(() => setShown(opened), [opened])
  return shown
}
