import { Button, Group, Textarea } from '@mantine/core'
import { CHAT_BODY_MAX } from '@wheelhouse/protocol'
import { type FormEvent, type KeyboardEvent, useState } from 'react'
import type { Chat } from '../live/session-chat.ts'
import { t } from '../texts/texts.ts'

/** Renders a form for chat messages. Enter sends, Shift+Enter starts a new line. */
export function ChatForm({ room }: { room: Pick<Chat, 'send' | 'typing'> }) {
  const [body, setBody] = useState('')
  const send = () => {
    if (body.trim() === '') return
    room.send(body)
    setBody('')
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    send()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    // During composition, Enter belongs to the input method.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    send()
  }
  return (
    <form onSubmit={submit}>
      <Group align="flex-end" gap="xs" wrap="nowrap">
        <Textarea
          flex={1}
          label={t('session.chat.message')}
          autosize
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
    </form>
  )
}
