import { Button, Group, Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import { IconX } from '../base/icons.tsx'
import { Section } from '../base/section.tsx'
import { useStore } from '../base/store.ts'
import { type EpisodeMarks, EpisodePanel } from '../episodes/episode-panel.tsx'
import type { LiveSession } from '../platform/use-live.ts'
import { ChatPanel } from '../session/chat-panel.tsx'
import { EventLog } from '../session/event-log.tsx'
import { ExtensionPanel } from '../session/extension-panel.tsx'
import type { SessionDetail } from '../session/session-query.ts'
import type { SubscribeTelemetry } from '../telemetry/feed.ts'
import type { Predict } from '../telemetry/surroundings.ts'
import { TelemetryView } from '../telemetry/telemetry-view.tsx'
import { t } from '../texts/texts.ts'
import { CHAT_ID, DOCK_TABS, type DockTab, type Hud } from './hud.ts'
import { leaveChat } from './hud-actions.ts'
import styles from './side-dock.module.css'

interface Props {
  readonly hud: Hud
  readonly session: SessionDetail
  readonly live: LiveSession
  readonly subscribe: SubscribeTelemetry
  readonly predict: Predict | undefined
  readonly episodes: EpisodeMarks
  /** Messages that one press sends. */
  readonly quickReplies: readonly string[]
  readonly inputs: ReactNode
}

const tabTexts: Record<DockTab, string> = {
  messages: t('drive.dock.messages'),
  log: t('drive.dock.log'),
  values: t('drive.dock.values'),
  episodes: t('drive.dock.episodes'),
  inputs: t('drive.dock.inputs'),
}

/** Shows messages, log, values, episodes and inputs beside the picture; on a phone on a sheet above it. */
export function SideDock(props: Props) {
  const { hud, episodes, inputs } = props
  const open = useStore(hud.dock)
  if (open === '') return null
  const tabs = DOCK_TABS.filter(
    (tab) => (tab !== 'inputs' || inputs) && (tab !== 'episodes' || episodes.state),
  )
  const shown = tabs.includes(open) ? open : 'messages'
  return (
    <aside className={styles.dock} aria-label={t('drive.dock.label')} data-testid="dock">
      <div className={styles.head}>
        <div className={styles.tabs} role="tablist" aria-label={t('drive.dock.label')}>
          {tabs.map((tab) => (
            <button
              key={tab}
              type="button"
              role="tab"
              id={`dock-tab-${tab}`}
              className={styles.tab}
              aria-selected={tab === shown}
              aria-controls="dock-panel"
              onClick={() => hud.dock.set(tab)}
            >
              {tabTexts[tab]}
            </button>
          ))}
        </div>
        <button
          type="button"
          className={styles.close}
          aria-label={t('common.close')}
          onClick={() => hud.dock.set('')}
        >
          <IconX size={18} />
        </button>
      </div>
      <div
        id="dock-panel"
        role="tabpanel"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: values and log may have nothing else to focus, and are scrolled with keys
        tabIndex={0}
        aria-labelledby={`dock-tab-${shown}`}
        className={styles.panel}
      >
        <Content {...props} tab={shown} />
      </div>
    </aside>
  )
}

/** Keeps the place of the dock on the layer of the stop. */
export const DockSpace = () => <div className={styles.space} />

function Content(props: Props & { tab: DockTab }) {
  const { tab, hud, live, session, subscribe, predict, episodes, quickReplies, inputs } = props
  switch (tab) {
    case 'messages':
      return (
        <section id={CHAT_ID} aria-label={t('drive.chat.label')} className={styles.chat}>
          <ChatPanel live={live} height="100%" onLeave={() => leaveChat(hud)} />
          <Group gap={6}>
            {quickReplies.map((text) => (
              <Button key={text} size="sm" variant="default" radius="xl" onClick={() => live.room.send(text)}>
                {text}
              </Button>
            ))}
          </Group>
        </section>
      )
    case 'log':
      return (
        <Stack gap="md">
          <Section gap="xs" title={t('drive.sheets.extension')}>
            <ExtensionPanel live={live} />
          </Section>
          <EventLog live={live} />
        </Stack>
      )
    case 'values':
      return (
        <TelemetryView subscribe={subscribe} telemetrySchema={session.telemetry_schema} predict={predict} />
      )
    case 'episodes':
      return <EpisodePanel marks={episodes} />
    case 'inputs':
      return inputs
  }
}
