import { createStore, type Store } from '../base/store.ts'
import { t } from '../texts/texts.ts'
import type { SoundLine } from './player.ts'

/** What the page hears of a robot and says to it. */
interface SoundState {
  readonly canHear: boolean
  /** Whether the robot takes the sound of this page. */
  readonly canSpeak: boolean
  /** Whether the browser plays nothing before the user has pressed something. */
  readonly isBlocked: boolean
  /** `asking`: the browser asks for the microphone. */
  readonly speech: 'silent' | 'asking' | 'speaking'
  /** What the user must know about the microphone; undefined after some seconds. */
  readonly notice: string | undefined
}

/** The sound of a robot at the loudspeaker, and the microphone at the robot. */
export type RobotSound = ReturnType<typeof createRobotSound>

interface SoundDevices {
  readonly speaker: Pick<HTMLAudioElement, 'play' | 'pause' | 'muted' | 'srcObject'>
  openMicrophone(): Promise<MediaStreamTrack>
}

const browserDevices = (): SoundDevices => ({
  // Not the element of the video: where the browser refuses sound, it would stop the picture, too.
  speaker: document.createElement('audio'),
  async openMicrophone() {
    const audio = { echoCancellation: true, noiseSuppression: true, autoGainControl: true }
    const [track] = (await navigator.mediaDevices.getUserMedia({ audio })).getAudioTracks()
    return track as MediaStreamTrack
  },
})

const NOTICE_MS = 8_000
const INITIAL: SoundState = {
  canHear: false,
  canSpeak: false,
  isBlocked: false,
  speech: 'silent',
  notice: undefined,
}

/** Creates the sound of a view. Nothing plays that is older than the picture: a line ends together with its picture. */
export function createRobotSound(
  isListening: Store<boolean>,
  { speaker, openMicrophone } = browserDevices(),
) {
  const state = createStore(INITIAL)
  const change = (next: Partial<SoundState>) => state.update((old) => ({ ...old, ...next }))
  let [heard, played, spoken]: (SoundLine | undefined)[] = []
  let opening: Promise<MediaStreamTrack> | undefined
  let microphone: MediaStreamTrack | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let [isOpen, isHeld] = [false, false]

  function play(): void {
    const wanted = isOpen && isListening.get() ? heard : undefined
    speaker.muted = state.get().speech === 'speaking' // otherwise the robot would hear itself
    if (wanted !== played) speaker.srcObject = wanted ? new MediaStream([wanted.track]) : null
    played = wanted
    if (!wanted) {
      speaker.pause()
      return change({ isBlocked: false })
    }
    speaker.play().then(
      () => change({ isBlocked: false }),
      (cause: unknown) => {
        // Other errors only say that another line has replaced this one.
        const isRefused = cause instanceof DOMException && cause.name === 'NotAllowedError'
        if (wanted === played && isRefused) change({ isBlocked: true })
      },
    )
  }

  /** Chooses what is heard, and where speech goes. What had another line ends. */
  function connect(lines: Record<'heard' | 'spoken', SoundLine | undefined>): void {
    if (lines.spoken !== spoken) hush()
    for (const line of [lines.heard, lines.spoken])
      if (line && line !== heard && line !== spoken) line.ended.addEventListener('abort', () => end(line))
    ;({ heard, spoken } = lines)
    change({ canHear: heard !== undefined, canSpeak: spoken !== undefined })
    play()
  }

  const end = (line: SoundLine) =>
    connect({ heard: heard === line ? undefined : heard, spoken: spoken === line ? undefined : spoken })

  function notify(notice: string): void {
    clearTimeout(timer)
    change({ notice })
    timer = setTimeout(() => change({ notice: undefined }), NOTICE_MS)
  }

  /** Opens the microphone. It stays silent. @throws if the browser or the user refuses it */
  async function getMicrophone(): Promise<MediaStreamTrack | undefined> {
    opening ??= openMicrophone().finally(() => {
      opening = undefined
    })
    const track = await opening
    if (microphone === track) return track
    track.enabled = false
    if (!isOpen) return void track.stop()
    microphone = track
    track.addEventListener('ended', () => {
      if (microphone === track) closeMicrophone()
      notify(t('video.sound.noMicrophone'))
    })
    return track
  }

  /** Sends the microphone until `hush`. Asks for it the first time. */
  async function speak(): Promise<void> {
    if (!spoken) return notify(t('video.sound.noTaker'))
    isHeld = true
    if (microphone) return begin(microphone)
    change({ speech: 'asking', notice: undefined })
    try {
      const track = await getMicrophone()
      change({ speech: 'silent' })
      if (track && isHeld) begin(track)
      else if (track) notify(t('video.sound.ready'))
    } catch (cause) {
      change({ speech: 'silent' })
      const isRefused = cause instanceof DOMException && cause.name === 'NotAllowedError'
      notify(isRefused ? t('video.sound.refused') : t('video.sound.noMicrophone'))
    }
  }

  function begin(track: MediaStreamTrack): void {
    if (!spoken?.send) return
    track.enabled = true
    change({ speech: 'speaking', notice: undefined })
    play()
    spoken.send(track).catch(() => {
      hush()
      notify(t('video.sound.failed'))
    })
  }

  function hush(): void {
    isHeld = false
    if (state.get().speech !== 'speaking') return
    if (microphone) microphone.enabled = false
    spoken?.send?.(null).catch(() => undefined) // the microphone is silent already
    change({ speech: 'silent' })
    play()
  }

  function closeMicrophone(): void {
    hush()
    microphone?.stop()
    microphone = undefined
  }

  return {
    state,
    connect,
    speak,
    hush,
    /** Begins to play. @returns a function that ends sound and speech, and releases the microphone */
    open(): () => void {
      isOpen = true
      const listening = new AbortController()
      const options = { signal: listening.signal }
      const retry = () => state.get().isBlocked && play()
      for (const gesture of ['keydown', 'pointerup'])
        window.addEventListener(gesture, retry, { ...options, capture: true })
      for (const leaving of ['blur', 'pagehide']) window.addEventListener(leaving, hush, options)
      document.addEventListener('visibilitychange', () => document.hidden && closeMicrophone(), options)
      const unsubscribe = isListening.subscribe(play)
      play()
      return () => {
        isOpen = false
        listening.abort()
        unsubscribe()
        closeMicrophone()
        clearTimeout(timer)
        play()
      }
    },
  }
}
