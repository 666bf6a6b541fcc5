import { Button, Group, Paper, ScrollArea, Stack, Text, Textarea } from '@mantine/core'
import { CHAT_BODY_MAX, ChatMessage, type SessionLogEvent } from '@wheelhouse/protocol'
import { type KeyboardEvent, memo, type ReactNode, useEffect, useMemo, useRef, useState } from 'react'
import { Form } from '../base/form.tsx'
import { shortList } from '../base/format.ts'
import { messageOf } from '../base/message-of.ts'
import { Problem } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { useMe } from '../platform/platform.ts'
import type { Chat, LiveSessionState, OutgoingMessage } from '../platform/session-room.ts'
import { useConnection } from '../platform/use-live.ts'
import { t } from '../texts/texts.ts'

interface Props {
  readonly live: LiveSessionState & { readonly room: Chat }
  readonly height?: number | string
  /** Leaves the field after a message, or after Enter in an empty field, because its keys have another use. */
  readonly onLeave?: (() => void) | undefined
}

/** Shows the chat of a session: messages, outgoing messages and typing participants. */
export const ChatPanel = (props: Props) => (
  <ChatView {...props} meId={useMe().id} isConnected={useConnection() === 'live'} />
)

export function ChatView(props: Props & { readonly meId: string; readonly isConnected: boolean }) {
  const { live, height = 280, onLeave, meId, isConnected } = props
  const { events, outgoing, typing, caughtUp, error, room } = live
  const messages = useMemo(() => events.filter(({ type }) => type === 'chat.message'), [events])
  const typingNames = typing.filter(({ user_id }) => user_id !== meId).map(({ display_name }) => display_name)
  if (error) return <Problem error={error} />
  return (
    <Stack gap="xs">
      <Scroller length={messages.length + outgoing.length} height={height}>
        <Stack gap="xs" role="log" aria-label={t('session.chat.label')}>
          {messages.map((event) => (
            <Message key={event.seq} event={event} meId={meId} />
          ))}
          {outgoing.map((message) => (
            <Outgoing key={message.clientMessageId} message={message} room={room} />
          ))}
        </Stack>
        {caughtUp && messages.length + outgoing.length === 0 && (
          <Text c="dimmed">{t('session.chat.empty')}</Text>
        )}
        {!caughtUp && <Text c="dimmed">{t('common.loading')}</Text>}
      </Scroller>
      <Text size="xs" c="dimmed" mih={18} aria-live="polite">
        {typingNames.length > 0 &&
          t('session.chat.typing', { names: shortList.format(typingNames), count: typingNames.length })}
      </Text>
      <ChatForm room={room} onLeave={onLeave} />
      {!isConnected && (
        <Text size="xs" c="dimmed">
          {t('session.chat.offline')}
        </Text>
      )}
    </Stack>
  )
}

/** Scrolls to new messages, unless the user has scrolled up. */
function Scroller(props: { length: number; height: number | string; children: ReactNode }) {
  const { length, height, children } = props
  const viewport = useRef<HTMLDivElement>(null)
  const atEnd = useRef(true)
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls when a message was added
  useEffect(() => {
    if (atEnd.current) viewport.current?.scrollTo({ top: viewport.current.scrollHeight })
  }, [length])
  const onScroll = () => {
    const { scrollTop = 0, scrollHeight = 0, clientHeight = 0 } = viewport.current ?? {}
    atEnd.current = scrollHeight - scrollTop - clientHeight < 40
  }
  return (
    <ScrollArea
      h={height}
      viewportRef={viewport}
      onScrollPositionChange={onScroll}
      viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': t('session.chat.messages') }}
    >
      {children}
    </ScrollArea>
  )
}

/** Memoized, because log entries never change and a new message must not render all others again. */
const Message = memo(({ event, meId }: { event: SessionLogEvent; meId: string }) => {
  const message = ChatMessage.safeParse(event.data).data
  if (!message) return null
  const own = message.sender_id === meId
  return (
    <Bubble own={own} text={message.body}>
      {own ? t('session.chat.you') : message.sender_name} · <Time at={message.created_at} />
    </Bubble>
  )
})

function phaseText({ phase, error }: OutgoingMessage): string {
  if (phase === 'failed') return t('session.chat.failed', { error: messageOf(error) })
  return phase === 'sent' ? t('session.chat.sent') : t('session.chat.sending')
}

const Outgoing = ({ message, room }: { message: OutgoingMessage; room: Chat }) => (
  <Bubble own text={message.body}>
    {phaseText(message)}
    {message.phase === 'failed' && (
      <Group gap="xs">
        <Button size="compact-xs" variant="default" onClick={() => room.retry(message.clientMessageId)}>
          {t('common.tryAgain')}
        </Button>
        <Button size="compact-xs" variant="default" onClick={() => room.discard(message.clientMessageId)}>
          {t('session.chat.discard')}
        </Button>
      </Group>
    )}
  </Bubble>
)

const Bubble = (props: { own: boolean; text: string; children: ReactNode }) => (
  <Paper
    withBorder
    px="sm"
    py={4}
    maw="85%"
    style={{ alignSelf: props.own ? 'flex-end' : 'flex-start' }}
    data-message
  >
    <Text size="sm" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
      {props.text}
    </Text>
    <Text size="xs" c="dimmed" component="div">
      {props.children}
    </Text>
  </Paper>
)

/** Renders a form for chat messages. Enter sends, Shift+Enter starts a new line, or with `onLeave` sends and stays. */
function ChatForm({ room, onLeave }: Pick<Props, 'onLeave'> & { room: Chat }) {
  const [body, setBody] = useState('')
  const send = () => {
    if (body.trim() === '') return
    room.send(body)
    setBody('')
  }
  const submit = () => {
    send()
    onLeave?.()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    // During composition, Enter belongs to the input method.
    if (event.key !== 'Enter' || event.nativeEvent.isComposing || (event.shiftKey && !onLeave)) return
    event.preventDefault()
    send()
    if (!event.shiftKey) onLeave?.()
  }
  return (
    <Form onSubmit={submit}>
      <Group align="flex-end" gap="xs" wrap="nowrap">
        <Textarea
          flex={1}
          label={t('session.chat.message')}
          placeholder={onLeave && t('session.chat.driveHint')}
          minRows={1}
          maxRows={5}
          maxLength={CHAT_BODY_MAX}
          value={body}
          onChange={(event) => {
            setBody(event.currentTarget.value)
            if (event.currentTarget.value !== '') room.typing()
          }}
          onKeyDown={onKeyDown}
        />
        <Button type="submit">{t('session.chat.send')}</Button>
      </Group>
    </Form>
  )
}
