import { Button, Group } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import type { ListColumn } from '../list/list-types.ts'
import { useMe } from '../platform/platform.ts'
import { t } from '../texts/texts.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { duration, money } from '../ui/format.ts'
import { LinkAnchor, LinkButton } from '../ui/links.tsx'
import { messageOf } from '../ui/message-of.ts'
import { isOpen, useSessionAction } from './session-roles.ts'
import { When } from './session-row.tsx'
import { StatusBadge } from './status-badge.tsx'
import type { ListedSession } from './use-session-list.ts'

/** The columns of the session list: one line for each session. */
export const sessionColumns: readonly ListColumn<ListedSession>[] = [
  {
    header: t('session.list.robot'),
    width: 'minmax(0, 3fr)',
    card: 'title',
    cell: ({ id, robot_name }) => (
      <LinkAnchor to="/sessions/$sessionId" params={{ sessionId: id }} fw={600} inherit>
        {robot_name}
      </LinkAnchor>
    ),
  },
  {
    header: t('session.list.status'),
    width: '7rem',
    card: 'end',
    cell: ({ status }) => <StatusBadge status={status} />,
  },
  {
    header: t('session.list.time'),
    width: '14rem',
    sort: 'created_at',
    cell: (session) => <When session={session} />,
  },
  {
    header: t('session.list.operator'),
    width: 'minmax(0, 2fr)',
    from: 'lg',
    card: 'none',
    cell: (session) => <OperatorName session={session} />,
  },
  {
    header: t('session.list.duration'),
    width: '6rem',
    align: 'right',
    from: 'lg',
    cell: ({ duration_minutes: minutes }) => (minutes === null ? '' : duration(minutes)),
  },
  { header: t('session.list.amount'), width: '6rem', align: 'right', from: 'lg', cell: amountOf },
  {
    header: t('session.list.rating'),
    width: '4rem',
    align: 'right',
    from: 'xl',
    cell: ({ rating }) => (rating === null ? '' : t('session.list.ratingOf', { rating })),
  },
  {
    header: t('session.list.actions'),
    width: '11rem',
    card: 'buttons',
    cell: (session) => <Actions session={session} />,
  },
]

const isOperated = (session: ListedSession) => 'operator_earnings_cents' in session

function OperatorName({ session }: { session: ListedSession }) {
  const { display_name } = useMe()
  return isOperated(session) ? display_name : session.operator_name
}

/** Returns what the viewer earns in a session, or pays for it. Empty until the session has ended. */
function amountOf(session: ListedSession): string {
  const cents =
    'operator_earnings_cents' in session ? session.operator_earnings_cents : session.client_charge_cents
  return cents === null ? '' : money(cents)
}

function Actions({ session }: { session: ListedSession }) {
  if (session.status === 'PENDING') return <Scheduled session={session} />
  if (!isOpen(session.status)) return null
  const params = { sessionId: session.id }
  return isOperated(session) ? (
    <LinkButton to="/drive/$sessionId" params={params} size="compact-xs">
      {t('session.row.drive')}
    </LinkButton>
  ) : (
    <LinkButton to="/sessions/$sessionId" params={params} size="compact-xs">
      {t('session.row.watch')}
    </LinkButton>
  )
}

/** Starts or cancels a scheduled session. A row has no room for an error, so it appears as a notification. */
function Scheduled({ session }: { session: ListedSession }) {
  const { id, robot_name } = session
  const action = useSessionAction(id)
  const start = () =>
    action.mutate('start', {
      onError: (error) =>
        notifications.show({
          color: 'red',
          title: t('session.row.notStarted', { robot: robot_name }),
          message: messageOf(error),
        }),
    })
  return (
    <Group gap="xs" wrap="nowrap">
      {isOperated(session) && (
        <Button
          size="compact-xs"
          loading={action.isPending}
          onClick={start}
          aria-label={t('session.actions.startLabel', { robot: robot_name })}
        >
          {t('session.actions.start')}
        </Button>
      )}
      <ConfirmButton
        size="compact-xs"
        variant="default"
        question={t('session.actions.cancelQuestion')}
        consequence={t('session.actions.cancelConsequence')}
        confirmLabel={t('session.actions.cancelConfirm')}
        dismissLabel={t('session.actions.cancelKeep')}
        onConfirm={() => action.mutateAsync('cancel')}
        aria-label={t('session.actions.cancelLabel', { robot: robot_name })}
      >
        {t('session.actions.cancel')}
      </ConfirmButton>
    </Group>
  )
}
