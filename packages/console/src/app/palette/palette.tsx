import { Combobox, Group, Loader, Modal, Text, TextInput, useCombobox } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useEffect, useState } from 'react'
import { t } from '../../texts/texts.ts'
import { useStore } from '../../ui/store.ts'
import { useOpenedAfterMount } from '../shortcuts/use-opened-after-mount.ts'
import { paletteOpened } from '../shortcuts/use-shortcuts.ts'
import type { PaletteEntry } from './palette-entry.ts'
import { matchesAll } from './palette-entry.ts'
import { useCommands } from './use-commands.ts'
import { useFound } from './use-found.ts'

const DEBOUNCE_MS = 200

const close = () => paletteOpened.set(false)

/** Finds pages, commands, robots, sessions and users by their names, and opens them. */
export default function Palette() {
  const opened = useOpenedAfterMount(useStore(paletteOpened))
  return (
    <Modal.Root opened={opened} onClose={close} padding="xs" size="lg" yOffset="10vh">
      <Modal.Overlay />
      <Modal.Content aria-label={t('app.palette.label')}>
        <Modal.Body>
          <Search />
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  )
}

function Search() {
  const [text, setText] = useState('')
  const [searched] = useDebouncedValue(text.trim(), DEBOUNCE_MS)
  const commands = useCommands().filter((command) => matchesAll(command, text))
  const { found, isSearching } = useFound(searched)
  const entries = [...commands, ...found]
  // Escape closes the list, and with it the palette.
  const combobox = useCombobox({ opened: true, onOpenedChange: (opened) => !opened && close() })
  const ids = entries.map(({ id }) => id).join(' ')
  // biome-ignore lint/correctness/useExhaustiveDependencies: other entries make the first one the selected one
  useEffect(() => {
    combobox.selectFirstOption()
  }, [ids])
  const run = (id: string) => {
    close()
    entries.find((entry) => entry.id === id)?.run()
  }
  return (
    <Combobox store={combobox} onOptionSubmit={run}>
      <Combobox.EventsTarget withExpandedAttribute>
        <TextInput
          aria-label={t('app.palette.hint')}
          placeholder={t('app.palette.hint')}
          value={text}
          onChange={({ currentTarget: { value } }) => setText(value)}
          rightSection={isSearching && <Loader size="xs" aria-label={t('common.searching')} />}
          maxLength={100}
          data-autofocus
        />
      </Combobox.EventsTarget>
      <Combobox.Options
        mah="60vh"
        mt="xs"
        style={{ overflowY: 'auto' }}
        aria-label={t('app.palette.results')}
        tabIndex={0} // it may have to be scrolled
      >
        <Groups entries={entries} />
        {entries.length === 0 && !isSearching && (
          <Combobox.Empty>
            <Text size="sm" role="status">
              {t('app.palette.noResults')}
            </Text>
          </Combobox.Empty>
        )}
      </Combobox.Options>
    </Combobox>
  )
}

/** Shows entries below the titles of their groups. */
const Groups = ({ entries }: { entries: readonly PaletteEntry[] }) =>
  [...new Set(entries.map(({ group }) => group))].map((group) => (
    <Combobox.Group key={group} label={group}>
      {entries
        .filter((entry) => entry.group === group)
        .map(({ id, label, detail }) => (
          <Combobox.Option key={id} value={id}>
            <Group justify="space-between" wrap="nowrap" gap="sm">
              <Text truncate>{label}</Text>
              {detail !== '' && (
                <Text size="sm" truncate style={{ opacity: 0.85 }}>
                  {detail}
                </Text>
              )}
            </Group>
          </Combobox.Option>
        ))}
    </Combobox.Group>
  ))
