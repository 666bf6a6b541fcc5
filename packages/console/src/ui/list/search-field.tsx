import { Kbd, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useRouter } from '@tanstack/react-router'
import { type KeyboardEvent as ReactKeyboardEvent, useCallback, useEffect, useRef, useState } from 'react'
import { t } from '../../texts/texts.ts'
import { MAX_SEARCH } from './list-search.ts'
import { focusRow } from './use-row-keys.ts'

/** Debounces requests while the user types. */
const DEBOUNCE_MS = 250

interface Props {
  /** The text in the address. */
  readonly value: string | undefined
  readonly hint: string
  readonly onChange: (text: string) => void
}

/** Renders the search field of a list. The key / focuses it, the arrow down leads from it to the first row. */
export function SearchField({ value = '', hint, onChange }: Props) {
  const field = useRef<HTMLInputElement>(null)
  const [typed, setTyped] = useState(value)
  // The last text that this field wrote to the address. A different one comes from a link, a view, or the key Back.
  const written = useRef(value)
  const router = useRouter()
  const apply = useDebouncedCallback((text: string) => {
    // The user has followed a link since, and its page is loading: a change of this address would cancel that.
    if (router.latestLocation.pathname !== router.state.resolvedLocation?.pathname) return
    written.current = text.trim() === '' ? '' : text
    onChange(text)
  }, DEBOUNCE_MS)
  useEffect(() => {
    if (written.current === value) return
    written.current = value
    // A text that is typed but not yet applied would replace the one of the link.
    apply.cancel()
    setTyped(value)
  }, [value, apply])
  useSlashKey(
    useCallback(() => {
      field.current?.focus()
      field.current?.select()
    }, []),
  )
  const onKeyDown = (event: ReactKeyboardEvent<HTMLInputElement>) => {
    if (event.key !== 'ArrowDown') return
    const table = event.currentTarget.closest('section')?.querySelector<HTMLElement>('[role=table]')
    if (!table) return
    event.preventDefault()
    focusRow(table, 0)
  }
  return (
    <TextInput
      ref={field}
      label={t('common.search')}
      type="search"
      placeholder={hint}
      value={typed}
      maxLength={MAX_SEARCH}
      flex={1}
      miw={200}
      rightSection={<Kbd aria-hidden="true">/</Kbd>}
      rightSectionPointerEvents="none"
      data-page-search
      onKeyDown={onKeyDown}
      onChange={({ currentTarget: { value: text } }) => {
        setTyped(text)
        apply(text)
      }}
    />
  )
}

/** Calls `onSlash` for the key / unless the user types or a dialog is open. */
function useSlashKey(onSlash: () => void): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== '/' || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey)
        return
      const target = event.target instanceof HTMLElement ? event.target : undefined
      if (target?.isContentEditable || target?.closest('input,textarea,select,[role=dialog]')) return
      event.preventDefault()
      onSlash()
    }
    window.addEventListener('keydown', onKeyDown)
    return () => window.removeEventListener('keydown', onKeyDown)
  }, [onSlash])
}
