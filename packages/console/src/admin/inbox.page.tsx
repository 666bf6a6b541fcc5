import { Anchor, Card, Group, SegmentedControl, Text } from '@mantine/core'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { type ReactNode, useState } from 'react'
import { PlainList, wrapped } from '../base/data-table.tsx'
import { Note } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { keys } from '../platform/queries.ts'
import { usePages } from '../platform/rest.ts'
import { StateLabel } from '../status/state-label.tsx'
import { textParts } from '../texts/text-parts.tsx'
import { t } from '../texts/texts.ts'
import { AdminPage, firstPagePolls, PagesView } from './admin-page.tsx'

export const MessagesPage = () => (
  <AdminPage title={t('admin.messages.title')} description={t('admin.messages.description')}>
    <Messages />
  </AdminPage>
)

const choices = [
  { value: 'all', label: t('admin.messages.all') },
  { value: 'false', label: t('admin.messages.pending') },
  { value: 'true', label: t('admin.messages.delivered') },
] as const
type Choice = (typeof choices)[number]['value']

function Messages() {
  const [choice, setChoice] = useState<Choice>('all')
  const query = usePages([...keys.inbox, 'messages', choice], firstPagePolls, async (rest, page, signal) => {
    const params = { query: { ...page, delivered: choice === 'all' ? undefined : choice } }
    return (await answerOf(rest.GET('/api/admin/contact-messages', { params, signal }))).contact_messages
  })
  return (
    <>
      <SegmentedControl
        aria-label={t('admin.messages.delivery')}
        value={choice}
        onChange={setChoice}
        data={[...choices]}
        maw={400}
      />
      <PagesView query={query} empty={t('admin.messages.emptyTitle')}>
        {(messages) => (
          <PlainList rows={messages}>
            {(message) => (
              <MailCard
                title={message.subject}
                state={
                  <StateLabel shape={message.delivered ? 'live' : 'delayed'}>
                    {t(message.delivered ? 'admin.messages.delivered' : 'admin.messages.pending')}
                  </StateLabel>
                }
                from={message}
                note={`${message.category} · `}
                text={message.message}
              >
                <Delivery message={message} />
              </MailCard>
            )}
          </PlainList>
        )}
      </PagesView>
    </>
  )
}

interface MailCardProps {
  readonly title: string
  readonly state?: ReactNode
  readonly from: { readonly name?: string | null; readonly email: string; readonly created_at: string }
  readonly note?: string
  readonly text: string | null
  readonly children?: ReactNode
}

const MailCard = ({ title, state, from, note, text, children }: MailCardProps) => (
  <Card padding="sm" component="article" aria-label={title}>
    <Group justify="space-between" align="flex-start" gap="xs">
      <Text fw={600} style={wrapped}>
        {title}
      </Text>
      {state}
    </Group>
    <Text size="sm" style={wrapped}>
      {from.name && `${from.name}, `}
      <Anchor href={`mailto:${encodeURIComponent(from.email)}`}>{from.email}</Anchor>
    </Text>
    <Note>
      {note}
      <Time at={from.created_at} />
    </Note>
    {text && (
      <Text my="xs" style={wrapped}>
        {text}
      </Text>
    )}
    {children}
  </Card>
)

function Delivery({ message }: { message: Schemas['StoredContactMessage'] }) {
  const { delivered_at, attempts, next_attempt_at, last_error } = message
  if (delivered_at) {
    const needed = t('admin.message.attemptsNeeded', { count: attempts })
    return (
      <Note>
        {textParts('admin.message.delivered', { time: <Time at={delivered_at} />, attempts: needed })}
      </Note>
    )
  }
  return (
    <>
      <Text size="sm">{nextAttempt(attempts, next_attempt_at)}</Text>
      {last_error && (
        <Text size="sm" c="var(--mantine-color-error)" style={wrapped}>
          {last_error}
        </Text>
      )}
    </>
  )
}

function nextAttempt(count: number, at: string | null): ReactNode {
  if (at === null) return count === 0 ? t('admin.message.notSent') : t('admin.message.attempts', { count })
  const time = <Time at={at} />
  if (count === 0) return textParts('admin.message.firstAttempt', { time })
  return textParts('admin.message.nextAttempt', {
    attempts: t('admin.message.attemptsSoFar', { count }),
    time,
  })
}

/** Lists requests for robot types that the platform does not support yet. */
export const RobotRequestsPage = () => (
  <AdminPage title={t('admin.robotRequests.title')} description={t('admin.robotRequests.description')}>
    <Requests />
  </AdminPage>
)

function Requests() {
  const query = usePages([...keys.inbox, 'robot-requests'], firstPagePolls, async (rest, query, signal) => {
    const request = rest.GET('/api/admin/robot-requests', { params: { query }, signal })
    return (await answerOf(request)).robot_requests
  })
  return (
    <PagesView query={query} empty={t('admin.robotRequests.emptyTitle')}>
      {(requests) => (
        <PlainList rows={requests}>
          {(request) => <MailCard title={request.robot_type} from={request} text={request.details} />}
        </PlainList>
      )}
    </PagesView>
  )
}
