import { Modal, Stack } from '@mantine/core'
import { KeyTable, type KeyTexts } from '../base/key-table.tsx'
import { Section } from '../base/section.tsx'
import { useStore } from '../base/store.ts'
import type { LiveSession } from '../platform/use-live.ts'
import { EventLog } from '../session/event-log.tsx'
import { ExtensionPanel } from '../session/extension-panel.tsx'
import { t } from '../texts/texts.ts'
import type { Cockpit } from './cockpit.ts'
import { ControlsSheet } from './controls-sheet.tsx'
import type { Hud, HudSheet } from './hud.tsx'

interface Props {
  /** Undefined for a viewer who watches. */
  readonly cockpit: Cockpit | undefined
  readonly live: LiveSession
  readonly hud: Hud
}

const titles: Record<HudSheet, string> = {
  keys: t('drive.sheets.keys'),
  controls: t('drive.sheets.controls'),
  details: t('drive.sheets.details'),
}

/** Shows the open sheet of the cockpit, above the picture and below the stop. */
export function Sheets({ cockpit, live, hud }: Props) {
  const sheet = useStore(hud.sheet)
  return (
    <Modal
      opened={sheet !== undefined}
      onClose={() => hud.sheet.set(undefined)}
      title={sheet && titles[sheet]}
      size="lg"
    >
      {sheet === 'keys' && (
        <KeyTable label={t('drive.keys.label')} rows={cockpit ? keyTexts : watchKeyTexts} />
      )}
      {sheet === 'controls' && cockpit && <ControlsSheet cockpit={cockpit} />}
      {sheet === 'details' && (
        <Stack>
          <Section gap="xs" title={t('drive.sheets.extension')}>
            <ExtensionPanel live={live} />
          </Section>
          <Section gap="xs" title={t('drive.sheets.eventLog')}>
            <EventLog live={live} />
          </Section>
        </Stack>
      )}
    </Modal>
  )
}

/** The keys that mark episodes. */
const episodeKeyTexts: KeyTexts = [
  [['E'], t('drive.keys.episodeStart')],
  [['Y', 'N'], t('drive.keys.episodeEnd')],
  [[t('drive.keys.backspace')], t('drive.keys.episodeDiscard')],
]

/** The keys of the picture and its overlay. */
const viewKeyTexts: KeyTexts = [
  [[t('drive.keys.enter')], t('drive.keys.chat')],
  [['M'], t('drive.keys.swap')],
  [['V'], t('drive.keys.camera')],
  [['T'], t('drive.keys.telemetry')],
  [['`'], t('drive.keys.overlay')],
  [['F'], t('drive.keys.fullScreen')],
  [['?'], t('drive.keys.keys')],
]

/** The keys of the cockpit and what they do. */
const keyTexts: KeyTexts = [
  [[t('drive.keys.space'), t('drive.keys.escape')], t('drive.keys.stop')],
  [['↑', '↓', '←', '→'], t('drive.keys.drive')],
  [['[', ']'], t('drive.keys.limit')],
  [['P'], t('drive.keys.pause')],
  [['R'], t('drive.keys.resume')],
  [['C'], t('drive.keys.askToClear')],
  ...episodeKeyTexts,
  ...viewKeyTexts,
]

/** The keys of a viewer who watches. */
const watchKeyTexts: KeyTexts = [
  [[t('drive.keys.escape')], t('drive.watch.stopHint')],
  ...episodeKeyTexts,
  ...viewKeyTexts,
  [['Q'], t('drive.watch.leave')],
]
