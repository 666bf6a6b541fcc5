import { useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { t } from '../../texts/texts.ts'
import { isTyping } from '../../ui/keys.ts'
import { createStore } from '../../ui/store.ts'
import type { NavigationEntry } from '../navigation.ts'
import { useNavigation } from '../use-navigation.ts'
import { createShortcutMatcher, type Shortcut } from './shortcut-matcher.ts'

/** Whether the palette is open. */
export const paletteOpened = createStore(false)
/** Whether the sheet of shortcuts is open. */
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

/** Focuses the first search field of the page. */
function focusSearch(): void {
  document.querySelector<HTMLInputElement>('main [type=search]')?.focus()
}

/** Returns the shortcuts of the signed-in user. */
export function useShortcutList(): readonly Shortcut[] {
  const navigate = useNavigate()
  const entries = useNavigation().flatMap((group) => group.entries)
  const goTo = ({ to, label }: Pick<NavigationEntry, 'to' | 'label'>, key: string): Shortcut => ({
    keys: ['g', key],
    label,
    group: t('app.shortcuts.goTo'),
    run: () => void navigate({ to }),
  })
  return [
    {
      keys: ['mod+k'],
      label: t('app.shortcuts.palette'),
      group: t('app.shortcuts.general'),
      run: () => paletteOpened.set(true),
    },
    {
      keys: ['?'],
      label: t('app.shortcuts.sheet'),
      group: t('app.shortcuts.general'),
      run: () => sheetOpened.set(true),
    },
    { keys: ['/'], label: t('app.shortcuts.search'), group: t('app.shortcuts.general'), run: focusSearch },
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
  useEffect(() => {
    const match = createShortcutMatcher(() => performance.now())
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.repeat || event.isComposing) return
      if (document.querySelector('[role=dialog]') !== null) return
      const isCombination = event.ctrlKey || event.metaKey
      if (isTyping() && !isCombination) return
      const shortcut = match(event, shortcuts)
      if (!shortcut) return
      event.preventDefault()
      shortcut.run()
    }
    window.addEventListener('keydown', onKeyDown)
    return () => window.removeEventListener('keydown', onKeyDown)
  }, [shortcuts])
}
