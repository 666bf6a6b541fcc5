import { Button, Group } from '@mantine/core'
import { ChatMessage } from '@wheelhouse/protocol'
import { type ReactNode, useMemo } from 'react'
import { HudButton } from '../base/hud-button.tsx'
import { leaveField } from '../base/keys.ts'
import { useStore } from '../base/store.ts'
import { useMe } from '../platform/platform.ts'
import type { LiveSession } from '../platform/use-live.ts'
import { ChatPanel } from '../session/chat-panel.tsx'
import { t } from '../texts/texts.ts'
import styles from './chat-overlay.module.css'
import { CHAT_ID, type Hud, toggle } from './hud.tsx'

/** Messages that an operator often sends. */
export const OPERATOR_REPLIES = [t('drive.chat.onIt'), t('drive.chat.stopped'), t('drive.chat.isClear')]

/** Shows the chat beside the picture. When it is closed, its last message stays in view. */
export const ChatOverlay = ({
  live,
  hud,
  quickReplies,
}: {
  live: LiveSession
  hud: Hud
  quickReplies: readonly string[]
}) => (
  <ChatOverlayView
    isOpen={useStore(hud.isChatOpen)}
    last={useLastMessage(live)}
    quickReplies={quickReplies}
    chat={<ChatPanel live={live} height="var(--chat-height)" onLeave={leaveField} />}
    onToggle={() => toggle(hud.isChatOpen)}
    onReply={live.room.send}
  />
)

interface Props {
  readonly isOpen: boolean
  /** The newest message with its sender. */
  readonly last: string
  /** The messages and the form, while the chat is open. */
  readonly chat: ReactNode
  /** Messages that one press sends. */
  readonly quickReplies: readonly string[]
  readonly onToggle: () => void
  /** Sends a quick reply. */
  readonly onReply: (text: string) => void
}

/** Lays out the chat on the picture. */
export function ChatOverlayView({ isOpen, last, chat, quickReplies, onToggle, onReply }: Props) {
  return (
    <section id={CHAT_ID} className={styles.chat} aria-label={t('drive.chat.label')} data-open={isOpen}>
      {isOpen && (
        <div className={styles.panel}>
          {chat}
          {quickReplies.length > 0 && (
            <Group gap={4} mt={4}>
              {quickReplies.map((text) => (
                <Button key={text} size="compact-xs" variant="default" onClick={() => onReply(text)}>
                  {text}
                </Button>
              ))}
            </Group>
          )}
        </div>
      )}
      <div className={styles.line}>
        <p className={styles.last} data-testid="chat-last" aria-live="polite">
          {last}
        </p>
        <HudButton aria-expanded={isOpen} onClick={onToggle}>
          {isOpen ? t('drive.chat.close') : t('drive.chat.open')}
        </HudButton>
      </div>
    </section>
  )
}

/** Returns the newest message with its sender. */
function useLastMessage({ events, outgoing }: LiveSession): string {
  const me = useMe()
  const last = useMemo(() => events.findLast(({ type }) => type === 'chat.message'), [events])
  const sent = outgoing.at(-1)
  if (sent) return t('drive.chat.own', { message: sent.body })
  const message = last && ChatMessage.safeParse(last.data).data
  if (!message) return t('drive.chat.empty')
  return message.sender_id === me.id
    ? t('drive.chat.own', { message: message.body })
    : t('drive.chat.message', { sender: message.sender_name, message: message.body })
}
