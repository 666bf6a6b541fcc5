import { closeCodes } from '@wheelhouse/protocol'
import { ChatOverlayView, OPERATOR_REPLIES } from '../drive/chat-overlay.tsx'
import { Hint, LinkNotice } from '../drive/notices.tsx'
import type { LinkView } from '../drive/operator-connection.ts'
import { ChatView } from '../session/chat-panel.tsx'
import { chatting, OPERATOR_ID } from './fixtures.ts'
import { CockpitFrame, inColumn } from './frames.tsx'
import { type GalleryBlock, ON_PICTURE } from './gallery-state.ts'

const doNothing = () => undefined

const linkNotice = (id: string, label: string, link: LinkView) =>
  inColumn(`notice-${id}`, label, <LinkNotice link={link} onTakeOver={doNothing} />)

const chat = (
  <ChatView
    live={{ ...chatting, room: { send: doNothing, retry: doNothing, discard: doNothing, typing: doNothing } }}
    height="var(--chat-height)"
    meId={OPERATOR_ID}
    isConnected
  />
)

const overlay = (isOpen: boolean) => (
  <CockpitFrame width={400} height={isOpen ? 440 : 140}>
    <ChatOverlayView
      quickReplies={OPERATOR_REPLIES}
      isOpen={isOpen}
      last="Olive: Mind the cat."
      chat={chat}
      onToggle={doNothing}
      onReply={doNothing}
    />
  </CockpitFrame>
)

export const noticeBlocks: readonly GalleryBlock[] = [
  {
    title: 'Notices of the cockpit',
    use: 'Use them in the middle of the picture for what the operator must do or wait for.',
    states: [
      linkNotice('connecting', 'Connecting', { phase: 'connecting' }),
      linkNotice('lost', 'Connection lost', { phase: 'offline', problem: 'The gateway does not respond.' }),
      linkNotice('replaced', 'Open in another window', {
        phase: 'ended',
        end: { closeCode: closeCodes.replaced.code, reason: 'replaced' },
      }),
      {
        id: 'notice-hint',
        label: 'Paused',
        schemes: ON_PICTURE,
        render: () => (
          <CockpitFrame width={400} height={56}>
            <Hint text="Paused: press R to resume" />
          </CockpitFrame>
        ),
      },
    ],
  },
  {
    title: 'Chat on the picture',
    use: 'Use it in the cockpit; its last message stays in view when it is closed.',
    states: [
      { id: 'chat-closed', label: 'Closed', schemes: ON_PICTURE, render: () => overlay(false) },
      { id: 'chat-open', label: 'Open, with a message that was not sent', render: () => overlay(true) },
    ],
  },
]
