import { Button, Group, Textarea } from '@mantine/core'
import { CHAT_BODY_MAX } from '@wheelhouse/protocol'
import { type FormEvent, type KeyboardEvent, useState } from 'react'
import type { Chat } from '../platform/session-room.ts'
import { t } from '../texts/texts.ts'

interface Props {
  readonly room: Pick<Chat, 'send' | 'typing'>
  /** Leaves the field, because its keys have another use. Shift+Enter then sends and keeps the focus. */
  readonly onLeave?: (() => void) | undefined
}

/** Renders a form for chat messages. Enter sends, Shift+Enter starts a new line, or with `onLeave` sends and stays. */
export function ChatForm({ room, onLeave }: Props) {
  const [body, setBody] = useState('')
  const send = () => {
    if (body.trim() === '') return
    room.send(body)
    setBody('')
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
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
    <form onSubmit={submit}>
      <Group align="flex-end" gap="xs" wrap="nowrap">
        <Textarea
          flex={1}
          label={t('session.chat.message')}
          placeholder={onLeave && t('session.chat.driveHint')}
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
