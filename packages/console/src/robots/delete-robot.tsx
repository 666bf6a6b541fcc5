import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { ApiError, answerOf } from '@wheelhouse/sdk'
import { type FormEvent, useState } from 'react'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { textParts } from '../texts/text-parts.tsx'
import { t } from '../texts/texts.ts'
import { LinkAnchor } from '../ui/links.tsx'
import { Problem } from '../ui/states.tsx'
import { type Robot, robotKey } from './use-robots.ts'

/** Removes a robot after the owner has typed its name. */
export function DeleteRobot({ robot }: { robot: Robot }) {
  const [opened, { open, close }] = useDisclosure(false)
  const [typed, setTyped] = useState('')
  const remove = useRemove(robot.id)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (typed.trim() === robot.name) remove.mutate()
  }
  const forget = () => {
    setTyped('')
    remove.reset()
  }
  const inSession = remove.error instanceof ApiError && remove.error.status === 409
  return (
    <Group justify="space-between">
      <Text c="dimmed" maw={640}>
        {t('robots.remove.note')}
      </Text>
      <Button color="red.9" onClick={open}>
        {t('robots.remove.open')}
      </Button>
      <Modal
        opened={opened}
        onClose={close}
        title={t('robots.remove.question', { robot: robot.name })}
        onExitTransitionEnd={forget}
      >
        <form onSubmit={submit}>
          <Stack>
            <Text>{t('robots.remove.consequence')}</Text>
            <TextInput
              label={t('robots.remove.confirmation', { robot: robot.name })}
              value={typed}
              onChange={(event) => setTyped(event.currentTarget.value)}
              autoComplete="off"
              data-autofocus
            />
            <Problem error={remove.error} />
            {inSession && (
              <Text size="sm">
                {textParts('robots.remove.inSession', { session: <OpenSessions robot={robot} /> })}
              </Text>
            )}
            <Group justify="flex-end">
              <Button variant="default" onClick={close}>
                {t('common.cancel')}
              </Button>
              <Button
                type="submit"
                color="red.9"
                disabled={typed.trim() !== robot.name}
                loading={remove.isPending}
              >
                {t('robots.remove.confirm')}
              </Button>
            </Group>
          </Stack>
        </form>
      </Modal>
    </Group>
  )
}

const OpenSessions = ({ robot }: { robot: Robot }) => (
  <LinkAnchor to="/sessions" search={{ robot: robot.id }}>
    {t('robots.remove.session')}
  </LinkAnchor>
)

function useRemove(id: string) {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  const navigate = useNavigate()
  return useMutation({
    mutationFn: () => answerOf(rest.DELETE('/api/client/robots/{id}', { params: { path: { id } } })),
    onSuccess: async () => {
      await navigate({ to: '/robots' })
      queries.removeQueries({ queryKey: robotKey(id) })
      await queries.invalidateQueries({ queryKey: keys.robots })
    },
  })
}
