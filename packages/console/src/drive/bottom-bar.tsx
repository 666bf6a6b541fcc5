import { useState } from 'react'
import { ConfirmButton } from '../base/confirm-button.tsx'
import { HudButton } from '../base/hud-button.tsx'
import { messageOf } from '../base/message-of.ts'
import { type Store, useStore } from '../base/store.ts'
import { t } from '../texts/texts.ts'
import styles from './bottom-bar.module.css'
import type { PadState } from './gamepad.ts'
import { type Hud, toggle } from './hud.tsx'
import type { DriveActions, HudAction } from './hud-actions.ts'

interface Props {
  readonly gamepad: Store<PadState>
  /** Whether the robot declares inputs beyond driving. */
  readonly hasInputs: boolean
  /** Whether the viewer may mark episodes. */
  readonly hasEpisodes: boolean
  readonly actions: DriveActions
  readonly hud: Hud
  readonly perform: (action: HudAction) => void
  /** Shows the picture in a floating window; undefined if the browser cannot. */
  readonly onFloat: (() => void) | undefined
}

/** Shows the actions of the session and the tools of the cockpit. The stop has its own button. */
export function BottomBar({ actions, gamepad, ...tools }: Props) {
  const { isPaused, canResume, isBusy, error } = actions
  return (
    <footer className={styles.bottomBar}>
      <HudButton
        data-testid="pause"
        className={styles.pause}
        isPrimary={isPaused}
        hint={isPaused ? 'R' : 'P'}
        disabled={isBusy || (isPaused && !canResume)}
        onClick={isPaused ? actions.resume : actions.pause}
      >
        {isPaused ? t('drive.bar.resume') : t('drive.bar.pause')}
      </HudButton>
      <ConfirmButton
        className={styles.end}
        variant="default"
        question={t('drive.bar.endQuestion')}
        consequence={t('drive.bar.endConsequence')}
        confirmLabel={t('drive.bar.endConfirm')}
        onConfirm={actions.end}
      >
        {t('drive.bar.end')}
      </ConfirmButton>
      {error !== undefined && (
        <span className={styles.problem} role="alert">
          {messageOf(error)}
        </span>
      )}
      <GamepadState gamepad={gamepad} />
      <Tools {...tools} />
    </footer>
  )
}

function GamepadState({ gamepad }: Pick<Props, 'gamepad'>) {
  const state = useStore(gamepad)
  const name = state.phase === 'none' ? undefined : state.name
  return (
    <span className={styles.gamepad} role="status" title={name} data-connected={name !== undefined}>
      {gamepadText(state)}
    </span>
  )
}

function gamepadText(state: PadState): string {
  switch (state.phase) {
    case 'none':
      return t('drive.bar.noGamepad')
    case 'unknown':
      return t('drive.bar.unknownGamepad')
    case 'waiting':
      return t('drive.bar.releaseGamepad')
    case 'ready':
      return t('drive.bar.gamepad', { gamepad: state.name })
  }
}

/** Lists the tools: in a row, or on a phone in a menu. */
export function Tools(props: Omit<Props, 'actions' | 'gamepad'> & { isWatching?: boolean }) {
  const { hasInputs, hasEpisodes, hud, perform, onFloat, isWatching = false } = props
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <HudButton className={styles.more} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {t('drive.bar.more')}
      </HudButton>
      {/* biome-ignore lint/a11y/noStaticElementInteractions lint/a11y/useKeyWithClickEvents: the buttons in it take the keys */}
      <div className={styles.tools} data-open={isOpen} onClick={() => setOpen(false)}>
        {hasInputs && (
          <HudButton onClick={() => toggle(hud.areInputsShown)}>{t('drive.bar.inputs')}</HudButton>
        )}
        {hasEpisodes && (
          <HudButton hint="E" onClick={() => toggle(hud.areEpisodesShown)}>
            {t('drive.bar.episodes')}
          </HudButton>
        )}
        {!isWatching && (
          <HudButton onClick={() => hud.sheet.set('controls')}>{t('drive.bar.controls')}</HudButton>
        )}
        <HudButton hint="?" onClick={() => perform('keys')}>
          {t('drive.bar.keys')}
        </HudButton>
        <HudButton onClick={() => hud.sheet.set('details')}>{t('drive.bar.log')}</HudButton>
        <HudButton hint="T" onClick={() => perform('values')}>
          {t('drive.bar.telemetry')}
        </HudButton>
        <HudButton hint="M" onClick={() => perform('swap')}>
          {t('drive.bar.map')}
        </HudButton>
        <HudButton hint="`" onClick={() => perform('overlay')}>
          {t('drive.bar.overlay')}
        </HudButton>
        <HudButton hint="F" onClick={() => perform('fullScreen')}>
          {t('drive.bar.fullScreen')}
        </HudButton>
        {onFloat && <HudButton onClick={onFloat}>{t('drive.bar.float')}</HudButton>}
      </div>
    </>
  )
}
