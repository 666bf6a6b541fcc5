import type { RestClient } from '@wheelhouse/sdk'
import type { SessionRoom } from '../live/session-room.ts'
import type { Stop } from '../session/stop.ts'
import { ticketsFor } from '../session/tickets.ts'
import { createStore, type Store } from '../ui/store.ts'
import { type Axes, atRest } from './axes.ts'
import { createDriver, type Driver } from './driver.ts'
import { isAttended } from './focus.ts'
import { createGamepadInput, type GamepadInput } from './gamepad.ts'
import { watchHands } from './hands-off.ts'
import { createKeyboard } from './keyboard.ts'
import { createPilot, type Pilot } from './pilot.ts'
import { type DrivePreferences, loadPreferences } from './preferences.ts'
import { createOperatorStop } from './stop-ways.ts'

/** Everything of a cockpit that goes on outside of React. */
export interface Cockpit {
  readonly driver: Driver
  readonly pilot: Pilot
  /** What has come of the stop that was pressed here. */
  readonly pressed: Stop['state']
  readonly gamepad: GamepadInput
  readonly preferences: DrivePreferences
  /** What all inputs say together. */
  readonly axes: Store<Axes>
  /** Lets go of the wheel and stops the robot. */
  stop(): void
  /** Ends driving at once and closes the link. */
  close(): void
}

export interface CockpitParts {
  readonly rest: RestClient
  readonly room: SessionRoom
  readonly robotId: string
}

export function openCockpit({ rest, room, robotId }: CockpitParts): Cockpit {
  const preferences = loadPreferences(robotId)
  const axes = createStore(atRest)
  const driver = createDriver(ticketsFor(rest, room.sessionId, 'control'))
  // It outlives the page: a stop that was pressed goes on until it is recorded.
  const pressing = createOperatorStop({ driver, room, rest })
  const pilot = createPilot({
    send: driver.control,
    allowed: () => isAttended() && driver.canDrive(),
    limit: preferences.limit.get,
    onAxes: axes.set,
  })
  const canStop = () => driver.link.get().phase !== 'online' || driver.state.get()?.stop?.latched !== true
  const stop = () => {
    letGo()
    pressing.press()
  }
  const keyboard = createKeyboard({ steer: (to) => pilot.steer('keyboard', to), canStop, stop })
  const gamepad = createGamepadInput({
    steer: (to) => pilot.steer('gamepad', to),
    stop: () => canStop() && stop(),
    deadZone: preferences.deadZone.get,
  })
  function letGo(): void {
    pilot.letGo()
    keyboard.release()
  }
  // Whoever holds a key while the robot is stopped, paused or away does not drive on when it is back.
  const letGoIfIdle = () => {
    if (!driver.canDrive()) letGo()
  }
  const endings = [
    watchHands({
      letGo,
      leave: () => {
        letGo()
        driver.close()
      },
      comeBack: driver.takeOver,
    }),
    driver.state.subscribe(letGoIfIdle),
    driver.link.subscribe(letGoIfIdle),
    onCleared(room, () => pressing.state.get().phase !== 'pressed' && driver.forgetStop()),
    keyboard.close,
    gamepad.close,
  ]
  return {
    ...{ driver, pilot, gamepad, preferences, axes, stop, pressed: pressing.state },
    close() {
      letGo()
      for (const end of endings) end()
      driver.close()
    },
  }
}

/** Calls back when somebody has cleared a stop. @returns what ends it */
function onCleared({ state }: SessionRoom, call: () => void): () => void {
  let seen = state.get().events.at(-1)?.seq ?? 0
  return state.subscribe(() => {
    const { events } = state.get()
    const cleared = events.some(({ seq, type }) => seq > seen && type === 'session.stop_cleared')
    seen = events.at(-1)?.seq ?? seen
    if (cleared) call()
  })
}
