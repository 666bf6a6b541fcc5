import { Anchor, Badge, Card, Group, Text } from '@mantine/core'
import type { Schemas } from '@wheelhouse/sdk'
import { Time } from '../ui/time.tsx'

type Message = Schemas['StoredContactMessage']

/** Shows a contact message and its delivery status. */
export const MessageCard = ({ message }: { message: Message }) => (
  <Card withBorder padding="sm" component="article" aria-label={message.subject}>
    <Group justify="space-between" align="flex-start" gap="xs">
      <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
        {message.subject}
      </Text>
      <Badge color={message.delivered ? 'teal.9' : 'orange.9'} style={{ flexShrink: 0 }}>
        {message.delivered ? 'Delivered' : 'Pending'}
      </Badge>
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
  const attemptsText = attempts === 1 ? '1 attempt' : `${attempts} attempts`
  if (delivered_at) {
    return (
      <Text size="sm" c="dimmed">
        Delivered <Time at={delivered_at} /> after {attemptsText}.
      </Text>
    )
  }
  return (
    <>
      <Text size="sm">
        {attempts === 0 ? 'Not sent yet' : attemptsText}
        {next_attempt_at && (
          <>
            , next attempt <Time at={next_attempt_at} />
          </>
        )}
        .
      </Text>
      {last_error && (
        <Text size="sm" c="var(--mantine-color-error)" style={{ overflowWrap: 'anywhere' }}>
          {last_error}
        </Text>
      )}
    </>
  )
}
