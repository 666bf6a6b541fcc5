import { Button, Group, NumberInput, Stack, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { answerOf } from '@wheelhouse/sdk'
import { type FormEvent, useState } from 'react'
import { usePlatform } from '../app/platform.ts'
import type { LiveSession } from '../live/hooks.ts'
import { duration, timeOfDay } from '../ui/format.ts'
import { Problem } from '../ui/states.tsx'
import { type Extension, newestExtension } from './extensions.ts'
import { sessionQuery } from './session-query.ts'
import { isOpen, useSessionAction, useSessionRoles } from './session-roles.ts'

/** Shows extensions: the owner requests, the operator accepts or declines, both see the result. */
export function ExtensionPanel({ live }: { live: LiveSession }) {
  const { rest } = usePlatform()
  const { data: session } = useQuery(sessionQuery(rest, live.room.sessionId))
  const extension = newestExtension(live.events)
  if (!session) return null
  return <Panel session={session} extension={extension} status={live.session?.status ?? session.status} />
}

function Panel(props: {
  session: {
    id: string
    operator_id: string
    client_id: string
    planned_minutes: number | null
    planned_end: string | null
  }
  status: Parameters<typeof isOpen>[0]
  extension: Extension | undefined
}) {
  const { session, status, extension } = props
  const sessionRoles = useSessionRoles(session)
  const pending = extension?.status === 'pending'
  const planned = extension?.plannedMinutes ?? session.planned_minutes
  return (
    <Stack gap="xs">
      {planned !== null && (
        <Text size="sm">
          Planned duration: {duration(planned)}
          {session.planned_end && `, until ${timeOfDay(new Date(session.planned_end))}`}.
        </Text>
      )}
      <Text size="sm" role="status">
        {extension ? textOf(extension, sessionRoles.operator) : 'No extension requested.'}
      </Text>
      {isOpen(status) && pending && sessionRoles.operator && <Decision sessionId={session.id} />}
      {status === 'ACTIVE' && !pending && sessionRoles.client && <Request sessionId={session.id} />}
    </Stack>
  )
}

function textOf({ minutes, status }: Extension, isOperator: boolean): string {
  const requestedTime = `${minutes} more ${minutes === 1 ? 'minute' : 'minutes'}`
  if (status === 'pending') {
    return isOperator
      ? `The owner requests ${requestedTime}.`
      : `Requested ${requestedTime}. Waiting for the operator.`
  }
  if (status === 'expired') return `The request for ${requestedTime} expired.`
  return `${requestedTime} ${status}.`
}

function Decision({ sessionId }: { sessionId: string }) {
  const sessionAction = useSessionAction(sessionId)
  return (
    <>
      <Group gap="xs">
        <Button loading={sessionAction.isPending} onClick={() => sessionAction.mutate('approve_extension')}>
          Accept
        </Button>
        <Button
          variant="default"
          loading={sessionAction.isPending}
          onClick={() => sessionAction.mutate('decline_extension')}
        >
          Decline
        </Button>
      </Group>
      <Problem error={sessionAction.error} />
    </>
  )
}

const MAX_MINUTES = 480

function Request({ sessionId }: { sessionId: string }) {
  const { rest } = usePlatform()
  const [minutes, setMinutes] = useState<number | string>(15)
  const request = useMutation({
    mutationFn: (additionalMinutes: number) =>
      answerOf(
        rest.POST('/api/sessions/{id}/extend', {
          params: { path: { id: sessionId } },
          body: { additionalMinutes },
        }),
      ),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (typeof minutes === 'number') request.mutate(minutes)
  }
  return (
    <form onSubmit={submit}>
      <Group gap="xs" align="flex-end">
        <NumberInput
          label="Extra minutes"
          w={120}
          min={1}
          max={MAX_MINUTES}
          allowDecimal={false}
          required
          withAsterisk={false}
          value={minutes}
          onChange={setMinutes}
        />
        <Button type="submit" variant="default" loading={request.isPending}>
          Request extension
        </Button>
      </Group>
      <Problem error={request.error} />
    </form>
  )
}
