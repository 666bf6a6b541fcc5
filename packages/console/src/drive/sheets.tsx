import { Modal } from '@mantine/core'
import { ConfirmDialog } from '../base/confirm-button.tsx'
import { KeyTable, type KeyTexts } from '../base/key-table.tsx'
import { useStore } from '../base/store.ts'
import { t } from '../texts/texts.ts'
import type { Cockpit } from './cockpit.ts'
import { ControlsSheet } from './controls-sheet.tsx'
import type { Hud } from './hud.ts'

interface Props {
  /** Undefined for a viewer who watches. */
  readonly cockpit: Cockpit | undefined
  readonly hud: Hud
  readonly onEnd: () => Promise<unknown>
}

/** Shows the open sheet of the cockpit, above the picture and below the stop. */
export function Sheets({ cockpit, hud, onEnd }: Props) {
  const sheet = useStore(hud.sheet)
  const close = () => hud.sheet.set(undefined)
  return (
    <>
      <Modal
        opened={sheet === 'keys' || sheet === 'controls'}
        onClose={close}
        title={sheet === 'keys' ? t('drive.sheets.keys') : t('drive.sheets.controls')}
        size="lg"
      >
        {sheet === 'keys' && (
          <KeyTable label={t('drive.keys.label')} rows={cockpit ? keyTexts : watchKeyTexts} />
        )}
        {sheet === 'controls' && cockpit && <ControlsSheet cockpit={cockpit} />}
      </Modal>
      {/* Asks before the session ends, because nothing brings it back. */}
      <ConfirmDialog
        opened={sheet === 'end'}
        onClose={close}
        question={t('drive.bar.endQuestion')}
        consequence={t('drive.bar.endConsequence')}
        confirmLabel={t('drive.bar.endConfirm')}
        confirmColor="red"
        onConfirm={onEnd}
      />
    </>
  )
}

const episodeKeyTexts: KeyTexts = [
  [['E'], t('drive.keys.episodeStart')],
  [['Y', 'N'], t('drive.keys.episodeEnd')],
  [[t('drive.keys.backspace')], t('drive.keys.episodeDiscard')],
]

const viewKeyTexts: KeyTexts = [
  [[t('drive.menu.key')], t('drive.keys.menu')],
  [[t('drive.keys.enter')], t('drive.keys.chat')],
  [['L'], t('drive.keys.dock')],
  [['I'], t('drive.keys.telemetry')],
  [['M'], t('drive.keys.swap')],
  [['V'], t('drive.keys.camera')],
  [['U'], t('drive.keys.listen')],
  [['`'], t('drive.keys.overlay')],
  [['F'], t('drive.keys.fullScreen')],
  [['?'], t('drive.keys.keys')],
]

const keyTexts: KeyTexts = [
  [[t('drive.keys.space'), t('drive.keys.escape')], t('drive.keys.stop')],
  [['↑', '↓', '←', '→'], t('drive.keys.drive')],
  [['[', ']'], t('drive.keys.limit')],
  [['P'], t('drive.keys.pause')],
  [['R'], t('drive.keys.resume')],
  [['C'], t('drive.keys.clear')],
  [['T'], t('drive.keys.control')],
  [['B'], t('drive.keys.talk')],
  [['G'], t('drive.keys.goalMap')],
  [['X'], t('drive.keys.cancelGoal')],
  ...episodeKeyTexts,
  ...viewKeyTexts,
]

const watchKeyTexts: KeyTexts = [
  [[t('drive.keys.escape')], t('drive.watch.stopHint')],
  ...episodeKeyTexts,
  ...viewKeyTexts,
  [['G'], t('drive.keys.goalMap')],
  [['T'], t('drive.keys.openCockpit')],
  [['Q'], t('drive.watch.leave')],
]
