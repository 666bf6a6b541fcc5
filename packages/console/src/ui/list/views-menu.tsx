import { ActionIcon, Button, Group, Popover, Stack, Text, TextInput } from '@mantine/core'
import { type FormEvent, useMemo, useState } from 'react'
import { useMe } from '../../auth/me.ts'
import { t } from '../../texts/texts.ts'
import { useStore } from '../store.ts'
import { createSavedViews, MAX_VIEW_NAME, withView } from './saved-views.ts'

interface Props {
  /** The name of the list, for the storage. */
  readonly name: string
  readonly search: object
  readonly onApply: (search: Readonly<Record<string, unknown>>) => void
}

/** Applies, saves and removes views: named searches of a list. */
export function ViewsMenu({ name, search, onApply }: Props) {
  const { id: userId } = useMe()
  const store = useMemo(() => createSavedViews(userId, name), [userId, name])
  const views = useStore(store)
  const [opened, setOpened] = useState(false)
  const [typed, setTyped] = useState('')
  const save = (event: FormEvent) => {
    event.preventDefault()
    const viewName = typed.trim()
    if (viewName === '') return
    store.update((old) => withView(old, { name: viewName, search: { ...search } }))
    setTyped('')
  }
  return (
    <Popover opened={opened} onChange={setOpened} trapFocus withRoles position="bottom-end" width={280}>
      <Popover.Target>
        <Button variant="default" onClick={() => setOpened(!opened)}>
          {t('ui.list.views')}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={t('ui.list.views')}>
        <Stack gap="xs">
          {views.length === 0 && (
            <Text size="sm" c="dimmed">
              {t('ui.list.viewsNote')}
            </Text>
          )}
          {views.map((view) => (
            <Group key={view.name} gap="xs" wrap="nowrap">
              <Button
                variant="subtle"
                size="xs"
                justify="flex-start"
                flex={1}
                onClick={() => {
                  setOpened(false)
                  onApply(view.search)
                }}
              >
                {view.name}
              </Button>
              <ActionIcon
                variant="subtle"
                aria-label={t('ui.list.removeView', { name: view.name })}
                onClick={() => store.update((old) => old.filter((other) => other.name !== view.name))}
              >
                ×
              </ActionIcon>
            </Group>
          ))}
          <form onSubmit={save}>
            <Group gap="xs" wrap="nowrap" align="flex-end">
              <TextInput
                label={t('ui.list.viewName')}
                size="xs"
                flex={1}
                value={typed}
                maxLength={MAX_VIEW_NAME}
                onChange={({ currentTarget: { value } }) => setTyped(value)}
              />
              <Button type="submit" size="xs">
                {t('ui.list.saveView')}
              </Button>
            </Group>
          </form>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}
