import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { ApiError, answerOf } from '@wheelhouse/sdk'
import { type FormEvent, useState } from 'react'
import { keys } from '../api/keys.ts'
import { usePlatform } from '../app/platform.ts'
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
        Disconnects the robot permanently. Recordings, sessions and invoices are kept.
      </Text>
      <Button color="red.9" onClick={open}>
        Remove robot
      </Button>
      <Modal opened={opened} onClose={close} title={`Remove ${robot.name}?`} onExitTransitionEnd={forget}>
        <form onSubmit={submit}>
          <Stack>
            <Text>
              Its token stops working immediately, its scheduled sessions are cancelled and its hardware ID
              becomes free. You cannot undo this.
            </Text>
            <TextInput
              label={`Type ${robot.name} to confirm`}
              value={typed}
              onChange={(event) => setTyped(event.currentTarget.value)}
              autoComplete="off"
              data-autofocus
            />
            <Problem error={remove.error} />
            {inSession && (
              <Text size="sm">
                The robot is in a session. End <OpenSessions robot={robot} /> first, then remove the robot.
              </Text>
            )}
            <Group justify="flex-end">
              <Button variant="default" onClick={close}>
                Cancel
              </Button>
              <Button
                type="submit"
                color="red.9"
                disabled={typed.trim() !== robot.name}
                loading={remove.isPending}
              >
                Remove
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
    the session
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
