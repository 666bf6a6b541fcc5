import { VisuallyHidden } from '@mantine/core'
import { useEffect, useState } from 'react'
import { IconMicrophone, IconVolume, IconVolumeOff } from '../base/icons.tsx'
import { isShortcut, isTyping, latinKey } from '../base/keys.ts'
import { useStore } from '../base/store.ts'
import { t } from '../texts/texts.ts'
import { createRobotSound, type RobotSound } from '../video/audio.ts'
import type { Cameras, WatchedCamera } from '../video/use-cameras.ts'
import styles from './bar.module.css'
import type { CommandGroup } from './command-menu.tsx'
import { type Hud, toggle } from './hud.ts'

interface Options {
  readonly hud: Hud
  readonly cameras: Cameras
  /** The cameras that are shown, the large picture first. */
  readonly shown: readonly WatchedCamera[]
  readonly isOperator: boolean
  /** Whether the robot is stopped, paused or not connected. Speech ends when that begins. */
  readonly isHalted: boolean
}

/** Returns the sound of the shown cameras, while the component is mounted. */
export function useRobotSound(options: Options): RobotSound {
  const { hud, cameras, shown, isOperator, isHalted } = options
  const [sound] = useState(() => createRobotSound(hud.isListening))
  useEffect(() => sound.open(), [sound])
  const { sounding } = cameras
  useEffect(() => {
    const connect = () => {
      const lineOf = ({ watch }: WatchedCamera) => watch.state.get().playing.sound
      const heard = shown.filter(({ name }) => sounding.split(',').includes(name)).map(lineOf)
      const spoken = isOperator ? shown.map(lineOf) : []
      sound.connect({ heard: heard.find((line) => line), spoken: spoken.find((line) => line?.send) })
    }
    connect()
    const ends = shown.map(({ watch }) => watch.state.subscribe(connect))
    return () => {
      for (const end of ends) end()
    }
  }, [sound, shown, sounding, isOperator])
  useEffect(() => {
    if (isHalted) sound.hush()
  }, [sound, isHalted])
  useTalkKey(sound, isOperator)
  return sound
}

/** Sends the microphone while B is held. */
function useTalkKey(sound: RobotSound, isOperator: boolean): void {
  useEffect(() => {
    if (!isOperator) return
    let held: string | undefined
    const onKeyDown = (event: KeyboardEvent) => {
      if (latinKey(event) !== 'b' || event.defaultPrevented || !isShortcut(event)) return
      event.preventDefault()
      held = event.code
      void sound.speak()
    }
    const onKeyUp = ({ code }: KeyboardEvent) => {
      if (code === held) sound.hush()
    }
    const onFocus = () => isTyping() && sound.hush()
    const listening = new AbortController()
    const options = { capture: true, signal: listening.signal }
    window.addEventListener('keydown', onKeyDown, { signal: listening.signal })
    window.addEventListener('keyup', onKeyUp, options)
    document.addEventListener('focusin', onFocus, options)
    return () => {
      listening.abort()
      sound.hush()
    }
  }, [sound, isOperator])
}

/** Shows that sound is on and, below the bar, that the viewer speaks or what is wrong with the sound. */
export function SoundMark({ sound, hud }: { sound: RobotSound; hud: Hud }) {
  const { canHear, isBlocked, speech, notice } = useStore(sound.state)
  const isListening = useStore(hud.isListening)
  const isHeard = canHear && !isBlocked
  const word = isHeard ? t('drive.sound.on') : t('drive.sound.silent')
  return (
    <>
      {isListening && (
        <span className={styles.figure} data-testid="sound" data-heard={isHeard} title={word}>
          {isHeard ? <IconVolume size="1.2em" /> : <IconVolumeOff size="1.2em" />}
          <VisuallyHidden>{word}</VisuallyHidden>
        </span>
      )}
      <span
        className={styles.speech}
        role="status"
        data-testid="speech"
        data-speaking={speech === 'speaking'}
      >
        {speech === 'speaking' && <IconMicrophone size="1.4em" />}
        {speech === 'speaking'
          ? t('drive.sound.speaking')
          : speech === 'asking'
            ? t('drive.sound.asking')
            : (notice ?? (isBlocked ? t('drive.sound.blocked') : undefined))}
      </span>
    </>
  )
}

/** Returns the commands that switch the sound of the robot, and speak to it. */
export function useSoundCommands(
  sound: RobotSound,
  { hud, isOperator }: Pick<Options, 'hud' | 'isOperator'>,
): CommandGroup['commands'] {
  const { canHear, canSpeak, speech, notice } = useStore(sound.state)
  const isListening = useStore(hud.isListening)
  const listen = {
    id: 'listen',
    icon: isListening ? IconVolumeOff : IconVolume,
    label: isListening ? t('drive.sound.mute') : t('drive.sound.listen'),
    hint: 'U',
    isDisabled: !canHear && !isListening,
    note: canHear ? undefined : t('drive.sound.none'),
    run: () => toggle(hud.isListening),
  }
  if (!isOperator) return [listen]
  return [
    listen,
    {
      id: 'talk',
      icon: IconMicrophone,
      label: speech === 'speaking' ? t('drive.sound.speaking') : t('drive.sound.talk'),
      hint: 'B',
      isDisabled: !canSpeak,
      note: canSpeak ? notice : t('video.sound.noTaker'),
      hold: { begin: () => void sound.speak(), end: sound.hush },
      run: () => undefined,
    },
  ]
}
