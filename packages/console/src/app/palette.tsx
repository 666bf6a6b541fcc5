import {
  Combobox,
  Group,
  Kbd,
  Loader,
  type MantineColorScheme,
  Modal,
  Stack,
  Table,
  Text,
  TextInput,
  Title,
  useCombobox,
  useMantineColorScheme,
} from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { Schemas } from '@wheelhouse/sdk'
import { useEffect, useState } from 'react'
import { dateTime } from '../base/format.ts'
import { Note } from '../base/states.tsx'
import { useStore } from '../base/store.ts'
import { useMay } from '../platform/organization.ts'
import { useMe } from '../platform/platform.ts'
import { useRead } from '../platform/rest.ts'
import { signOut } from '../platform/sign-out.ts'
import { t } from '../texts/texts.ts'
import { useNavigation } from './navigation.ts'
import {
  keyLabel,
  paletteOpened,
  type Shortcut,
  sheetOpened,
  useOpenedAfterMount,
  useShortcutList,
} from './shortcuts.ts'

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

const schemes: readonly (readonly [MantineColorScheme, label: string])[] = [
  ['light', t('app.commands.light')],
  ['dark', t('app.commands.dark')],
  ['auto', t('app.commands.system')],
]

function useCommands(): readonly PaletteEntry[] {
  const { roles } = useMe()
  const may = useMay()
  const navigate = useNavigate()
  const { setColorScheme } = useMantineColorScheme()
  const entries = useNavigation().flatMap((group) => group.entries)
  const page = (to: string, label: string, detail: string): PaletteEntry => ({
    id: `page:${to}`,
    group: t('app.palette.pages'),
    label,
    detail,
    run: () => void navigate({ to }),
  })
  const command = (label: string, run: () => void): PaletteEntry => ({
    id: `command:${label}`,
    group: t('app.palette.commands'),
    label,
    detail: '',
    run,
  })
  return [
    page('/', t('common.home'), ''),
    ...entries.map(({ to, label, description }) => page(to, label, description)),
    ...(roles.includes('client') && may('robots.write')
      ? [command(t('app.commands.registerRobot'), () => void navigate({ to: '/robots/new' }))]
      : []),
    command(t('app.commands.shortcuts'), () => sheetOpened.set(true)),
    ...schemes.map(([scheme, label]) => command(label, () => setColorScheme(scheme))),
    command(t('common.signOut'), () => void signOut()),
  ]
}

type SearchResult = Schemas['SearchResult']

/** A single letter finds too much. */
const MIN_LETTERS = 2
/** Results of the same text are shown again without a request. */
const STALE_MS = 10_000
const MAX_WORDS = 5

const groups: Record<SearchResult['kind'], string> = {
  own_robot: t('app.found.ownRobots'),
  available_robot: t('app.found.availableRobots'),
  session: t('app.found.sessions'),
  user: t('app.found.users'),
}

/** Searches robots, sessions and users on the platform. A newer text cancels the search of an older one. */
function useFound(text: string): { found: readonly PaletteEntry[]; isSearching: boolean } {
  const open = useOpen()
  const enabled = text.length >= MIN_LETTERS && text.split(/\s+/).length <= MAX_WORDS
  const query = useRead(
    ['search', text],
    (rest, { signal }) => rest.GET('/api/search', { params: { query: { q: text } }, signal }),
    { enabled, staleTime: STALE_MS, gcTime: STALE_MS, placeholderData: keepPreviousData },
  )
  const results = enabled ? (query.data?.results ?? []) : []
  const found = results.map((result) => ({
    id: `${result.kind}:${result.id}`,
    group: groups[result.kind],
    label: result.title,
    detail: result.at === null ? result.detail : `${result.detail}, ${dateTime(result.at)}`,
    run: () => open(result),
  }))
  return { found, isSearching: enabled && query.isFetching }
}

function useOpen(): (result: SearchResult) => void {
  const navigate = useNavigate()
  return ({ kind, id }) => {
    if (kind === 'own_robot') void navigate({ to: '/robots/$robotId', params: { robotId: id } })
    else if (kind === 'available_robot') void navigate({ to: '/available/$robotId', params: { robotId: id } })
    else if (kind === 'session') void navigate({ to: '/sessions/$sessionId', params: { sessionId: id } })
    else void navigate({ to: '/admin/users/$userId', params: { userId: id } })
  }
}

/** A page, a command or a search result of the palette. */
interface PaletteEntry {
  readonly id: string
  readonly group: string
  readonly label: string
  readonly detail: string
  readonly run: () => void
}

function matchesAll({ label, detail }: PaletteEntry, text: string): boolean {
  const searched = `${label} ${detail}`.toLowerCase()
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => searched.includes(word))
}

export function ShortcutsSheet() {
  const opened = useOpenedAfterMount(useStore(sheetOpened))
  const shortcuts = useShortcutList()
  const groups = [...new Set(shortcuts.map(({ group }) => group))]
  return (
    <Modal opened={opened} onClose={() => sheetOpened.set(false)} title={t('app.shortcuts.title')}>
      <Stack>
        {groups.map((group) => (
          <section key={group} aria-label={group}>
            <Title order={3} size="h4" mb="xs">
              {group}
            </Title>
            <ShortcutTable shortcuts={shortcuts.filter((shortcut) => shortcut.group === group)} />
          </section>
        ))}
        <Note>{t('app.shortcuts.note')}</Note>
      </Stack>
    </Modal>
  )
}

const ShortcutTable = ({ shortcuts }: { shortcuts: readonly Shortcut[] }) => (
  <Table>
    <Table.Tbody>
      {shortcuts.map(({ keys, label }) => (
        <Table.Tr key={label}>
          <Table.Th scope="row" fw={400}>
            {label}
          </Table.Th>
          <Table.Td>
            <Group gap={4} justify="flex-end">
              {keys.map((key) => (
                <Kbd key={key}>{keyLabel(key)}</Kbd>
              ))}
            </Group>
          </Table.Td>
        </Table.Tr>
      ))}
    </Table.Tbody>
  </Table>
)
