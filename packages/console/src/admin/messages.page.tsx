import { Anchor, Card, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { useState } from 'react'
import { Time } from '../base/time.tsx'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { StateLabel } from '../status/state-label.tsx'
import { textParts } from '../texts/text-parts.tsx'
import { t } from '../texts/texts.ts'
import { AdminPage, PAGE_SIZE, PagesView, usePages } from './admin-page.tsx'

/** Lists messages of the contact form and their delivery status. */
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
  const { rest } = usePlatform()
  const [choice, setChoice] = useState<Choice>('all')
  const query = usePages([...keys.inbox, 'messages', choice], async (before, signal) => {
    const filter = { limit: PAGE_SIZE, before, delivered: choice === 'all' ? undefined : choice }
    const { contact_messages } = await answerOf(
      rest.GET('/api/admin/contact-messages', { params: { query: filter }, signal }),
    )
    return contact_messages
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
          <Stack component="ul" gap="sm" m={0} p={0} style={{ listStyle: 'none' }}>
            {messages.map((message) => (
              <li key={message.id}>
                <MessageCard message={message} />
              </li>
            ))}
          </Stack>
        )}
      </PagesView>
    </>
  )
}

type Message = Schemas['StoredContactMessage']

/** Shows a contact message and its delivery status. */
const MessageCard = ({ message }: { message: Message }) => (
  <Card withBorder padding="sm" component="article" aria-label={message.subject}>
    <Group justify="space-between" align="flex-start" gap="xs">
      <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
        {message.subject}
      </Text>
      <StateLabel shape={message.delivered ? 'live' : 'delayed'}>
        {t(message.delivered ? 'admin.messages.delivered' : 'admin.messages.pending')}
      </StateLabel>
    </Group>
    <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
      {message.name}, <Anchor href={`mailto:${encodeURIComponent(message.email)}`}>{message.email}</Anchor>
    </Text>
    <Text size="sm" c="dimmed">
      {message.category} · <Time at={message.created_at} />
    </Text>
    <Text my="xs" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
      {message.message}
    </Text>
    <Delivery message={message} />
  </Card>
)

function Delivery({ message }: { message: Message }) {
  const { delivered_at, attempts, next_attempt_at, last_error } = message
  if (delivered_at) {
    return (
      <Text size="sm" c="dimmed">
        {textParts('admin.message.delivered', {
          time: <Time at={delivered_at} />,
          attempts: t('admin.message.attemptsNeeded', { count: attempts }),
        })}
      </Text>
    )
  }
  return (
    <>
      <Text size="sm">
        {next_attempt_at ? <NextAttempt at={next_attempt_at} attempts={attempts} /> : attemptsText(attempts)}
      </Text>
      {last_error && (
        <Text size="sm" c="var(--mantine-color-error)" style={{ overflowWrap: 'anywhere' }}>
          {last_error}
        </Text>
      )}
    </>
  )
}

const attemptsText = (count: number) =>
  count === 0 ? t('admin.message.notSent') : t('admin.message.attempts', { count })

function NextAttempt({ at, attempts }: { at: string; attempts: number }) {
  const time = <Time at={at} />
  if (attempts === 0) return textParts('admin.message.firstAttempt', { time })
  return textParts('admin.message.nextAttempt', {
    attempts: t('admin.message.attemptsSoFar', { count: attempts }),
    time,
  })
}
