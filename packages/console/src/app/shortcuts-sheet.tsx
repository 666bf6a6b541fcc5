import { Group, Kbd, Modal, Stack, Table, Title } from '@mantine/core'
import { Note } from '../base/states.tsx'
import { useStore } from '../base/store.ts'
import { t } from '../texts/texts.ts'
import { keyLabel, type Shortcut, sheetOpened, useOpenedAfterMount, useShortcutList } from './shortcuts.ts'

/** Lists the shortcuts of the user. */
export default function ShortcutsSheet() {
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
