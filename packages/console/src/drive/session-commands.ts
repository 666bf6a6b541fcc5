import { IconDoorExit, IconPause, IconPlay } from '../base/icons.tsx'
import { t } from '../texts/texts.ts'
import type { CommandGroup } from './command-menu.tsx'

export const sessionCommands = (options: {
  readonly isPaused: boolean
  readonly isBusy: boolean
  readonly onPause: () => void
  /** Undefined for a viewer, whom the session does not wait for. */
  readonly onResume: { readonly isPossible: boolean; readonly run: () => void } | undefined
  readonly onEnd: () => void
  readonly endLabel: string
}): CommandGroup['commands'] => {
  const { isPaused, isBusy, onPause, onResume, onEnd, endLabel } = options
  return [
    isPaused && onResume
      ? {
          id: 'pause',
          icon: IconPlay,
          label: t('drive.bar.resume'),
          hint: 'R',
          isDisabled: isBusy || !onResume.isPossible,
          run: onResume.run,
        }
      : {
          id: 'pause',
          icon: IconPause,
          label: t('drive.bar.pause'),
          hint: 'P',
          isDisabled: isBusy || isPaused,
          run: onPause,
        },
    { id: 'end', icon: IconDoorExit, label: endLabel, run: onEnd },
  ]
}
