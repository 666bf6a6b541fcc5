import { Button, Group, NumberInput, Stack, Text } from '@mantine/core'
import type { SessionLogEvent } from '@wheelhouse/protocol'
import { type FormEvent, useState } from 'react'
import { duration, timeOfDay } from '../base/format.ts'
import { Problem } from '../base/states.tsx'
import { byId, useWrite } from '../platform/rest.ts'
import type { LiveSession } from '../platform/use-live.ts'
import { t } from '../texts/texts.ts'
import { isOpen, type SessionDetail, useSession, useSessionAction, useSessionRoles } from './session-query.ts'

/** Shows extensions: the owner requests, the operator accepts or declines, both see the result. */
export function ExtensionPanel({ live }: { live: LiveSession }) {
  const session = useSession(live.room.sessionId).data
  return session ? <Extension live={live} session={session} /> : null
}

function Extension({ live, session }: { live: LiveSession; session: SessionDetail }) {
  const { operator: isOperator, manages } = useSessionRoles(session)
  const extension = newestExtension(live.events)
  const status = live.session?.status ?? session.status
  const pending = extension?.status === 'pending'
  const planned = extension?.plannedMinutes ?? session.planned_minutes
  return (
    <Stack gap="xs">
      {planned !== null && (
        <Text size="sm">
          {session.planned_end
            ? t('session.extension.plannedUntil', {
                duration: duration(planned),
                time: timeOfDay(new Date(session.planned_end)),
              })
            : t('session.extension.planned', { duration: duration(planned) })}
        </Text>
      )}
      <Text size="sm" role="status">
        {extension ? textOf(extension, isOperator) : t('session.extension.none')}
      </Text>
      {isOpen(status) && pending && isOperator && <Decision sessionId={session.id} />}
      {status === 'ACTIVE' && !pending && manages && <Request sessionId={session.id} />}
    </Stack>
  )
}

const texts = {
  pending: 'session.extension.requested',
  expired: 'session.extension.expired',
  approved: 'session.extension.approved',
  declined: 'session.extension.declined',
} as const

const textOf = ({ minutes: count, status }: Extension, isOperator: boolean): string =>
  t(status === 'pending' && isOperator ? 'session.extension.ownerRequests' : texts[status], { count })

function Decision({ sessionId }: { sessionId: string }) {
  const sessionAction = useSessionAction(sessionId)
  return (
    <>
      <Group gap="xs">
        <Button loading={sessionAction.isPending} onClick={() => sessionAction.mutate('approve_extension')}>
          {t('session.extension.accept')}
        </Button>
        <Button
          variant="default"
          loading={sessionAction.isPending}
          onClick={() => sessionAction.mutate('decline_extension')}
        >
          {t('session.extension.decline')}
        </Button>
      </Group>
      <Problem error={sessionAction.error} />
    </>
  )
}

const MAX_MINUTES = 480

function Request({ sessionId }: { sessionId: string }) {
  const [minutes, setMinutes] = useState<number | string>(15)
  const request = useWrite((rest, additionalMinutes: number) =>
    rest.POST('/api/sessions/{id}/extend', { ...byId(sessionId), body: { additionalMinutes } }),
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (typeof minutes === 'number') request.mutate(minutes)
  }
  return (
    <form onSubmit={submit}>
      <Group gap="xs" align="flex-end">
        <NumberInput
          label={t('session.extension.minutes')}
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
          {t('session.extension.request')}
        </Button>
      </Group>
      <Problem error={request.error} />
    </form>
  )
}

interface Extension {
  readonly minutes: number
  readonly status: 'pending' | 'approved' | 'declined' | 'expired'
  readonly plannedMinutes: number | undefined
}

const statuses: Record<string, Extension['status']> = {
  'extension.requested': 'pending',
  'extension.approved': 'approved',
  'extension.declined': 'declined',
}

/** Returns the newest request in a log, undefined without one. The end of the session expires it. */
export function newestExtension(events: readonly SessionLogEvent[]): Extension | undefined {
  const last = events.findLast(({ type }) => type in statuses)
  if (!last) return undefined
  const { additional_minutes: minutes, planned_minutes: planned } = last.data
  const status = statuses[last.type] ?? 'pending'
  const ended = events.some(({ type, seq }) => type === 'session.ended' && seq > last.seq)
  return {
    minutes: Number(minutes),
    status: status === 'pending' && ended ? 'expired' : status,
    plannedMinutes: typeof planned === 'number' ? planned : undefined,
  }
}
