import { Button, Group } from '@mantine/core'
import { ChatMessage } from '@wheelhouse/protocol'
import { type ReactNode, useMemo } from 'react'
import { useMe } from '../auth/me.ts'
import type { LiveSession } from '../live/hooks.ts'
import { ChatPanel } from '../session/chat-panel.tsx'
import { useStore } from '../ui/store.ts'
import styles from './chat-overlay.module.css'
import { type Hud, toggle } from './hud.ts'
import { HudButton } from './hud-button.tsx'

/** Messages that an operator often sends. */
const QUICK_REPLIES = ['On it', 'Stopped', 'Is the way clear?']

/** Shows the chat beside the picture. When it is closed, its last message stays in view. */
export const ChatOverlay = ({ live, hud }: { live: LiveSession; hud: Hud }) => (
  <ChatOverlayView
    isOpen={useStore(hud.isChatOpen)}
    last={useLastMessage(live)}
    chat={<ChatPanel live={live} height="var(--chat-height)" />}
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
  readonly onToggle: () => void
  /** Sends a quick reply. */
  readonly onReply: (text: string) => void
}

/** Lays out the chat on the picture. */
export function ChatOverlayView({ isOpen, last, chat, onToggle, onReply }: Props) {
  return (
    <section className={styles.chat} aria-label="Chat" data-open={isOpen}>
      {isOpen && (
        <div className={styles.panel}>
          {chat}
          <Group gap={4} mt={4}>
            {QUICK_REPLIES.map((text) => (
              <Button key={text} size="compact-xs" variant="default" onClick={() => onReply(text)}>
                {text}
              </Button>
            ))}
          </Group>
        </div>
      )}
      <div className={styles.line}>
        <p className={styles.last} data-testid="chat-last" aria-live="polite">
          {last}
        </p>
        <HudButton aria-expanded={isOpen} onClick={onToggle}>
          {isOpen ? 'Close chat' : 'Open chat'}
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
  if (sent) return `You: ${sent.body}`
  const message = last && ChatMessage.safeParse(last.data).data
  if (!message) return 'No messages'
  return `${message.sender_id === me.id ? 'You' : message.sender_name}: ${message.body}`
}
