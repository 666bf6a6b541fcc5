import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { messageOf } from '../base/message-of.ts'
import { useStore } from '../base/store.ts'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import type { SessionRoom } from '../platform/session-room.ts'
import { useConnection } from '../platform/use-live.ts'
import { StopSign } from '../status/shapes.tsx'
import {
  createStop,
  RouteClosedError,
  type StopControl,
  type StopRequestState,
  type StopRoute,
  stopKeyOf,
  stopOverRest,
} from '../stop/stop.ts'
import { t } from '../texts/texts.ts'
import type { ObserverConnection } from './observer-connection.ts'
import styles from './stop-bar.module.css'

export function StopBar({ stop, inForce }: { stop: StopControl; inForce: string | undefined }) {
  const request = useStore(stop.state)
  const isConnected = useConnection() === 'live'
  useStopKey(stop)
  return <StopBarView request={request} inForce={inForce} isConnected={isConnected} onStop={stop.request} />
}

/** Lets what is at the bottom of the window make room for a stop while the component is mounted. */
export function useRoomForStop(where: 'page' | 'cockpit'): void {
  useEffect(() => {
    document.body.dataset.stop = where
    return () => {
      delete document.body.dataset.stop
    }
  }, [where])
}

/** Renders the stop button, always in the same corner, and the state of the stop. */
export function StopBarView(props: {
  readonly request: StopRequestState
  /** The description of the stop in force; empty where the page says it itself. */
  readonly inForce: string | undefined
  readonly isConnected: boolean
  readonly onStop: () => void
}) {
  const { request, inForce, isConnected, onStop } = props
  const isInForce = inForce !== undefined
  useRoomForStop('page')
  return (
    <section className={styles.bar} aria-label={t('session.stopBar.label')}>
      <button
        type="button"
        className={styles.button}
        data-in-force={isInForce}
        aria-keyshortcuts="Escape"
        aria-label={isInForce ? t('session.stopBar.again') : t('session.stopBar.buttonLabel')}
        data-testid="stop"
        onClick={onStop}
      >
        <StopSign size="2rem" />
        <span>{isInForce ? t('session.stopBar.stopped') : t('session.stopBar.button')}</span>
      </button>
      <p className={styles.note} role="alert">
        {textOf(request, inForce, isConnected)}
      </p>
    </section>
  )
}

function textOf(request: StopRequestState, inForce: string | undefined, live: boolean): string {
  if (request.phase === 'requested') {
    return live ? t('session.stopBar.requested') : t('session.stopBar.notSent')
  }
  if (request.phase === 'rejected') return t('session.stopBar.rejected', { error: messageOf(request.error) })
  if (inForce !== undefined) return inForce
  return request.phase === 'recorded' ? t('session.stopBar.inForce') : ''
}

/** Stops the robot on Escape, also while it closes a dialog, unless the key closes a menu or a list of choices. */
export function useStopKey(stop: StopControl): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (stopKeyOf(event) !== 'Escape' || event.repeat || event.isComposing || closesList()) return
      stop.request()
    }
    // Captures the event first, so that no other handler can swallow a stop.
    window.addEventListener('keydown', onKeyDown, { capture: true })
    return () => window.removeEventListener('keydown', onKeyDown, { capture: true })
  }, [stop])
}

/** Returns whether Escape closes a menu or a list of choices: it has the focus. One that is open beside it takes no stop. */
function closesList(): boolean {
  const focused = document.activeElement
  return focused?.closest('[role=menu], [role=listbox], input[aria-expanded=true]') != null
}

/**
 * Returns the stop of a session. It goes over the gateway, the hub and the REST API at the same time and is retried
 * until it is recorded, even after the user opens another page.
 */
export function useStop(room: SessionRoom, observerConnection: ObserverConnection | undefined): StopControl {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  const { sessionId } = room
  const latest = useRef({ room, observerConnection })
  useEffect(() => {
    latest.current = { room, observerConnection }
  }, [room, observerConnection])
  const [stop] = useState(() => {
    const overGateway: StopRoute = async () => {
      const { observerConnection } = latest.current
      if (!observerConnection) throw new Error('not connected to the robot yet')
      await observerConnection.stop().catch((cause) => {
        throw new RouteClosedError('the connection to the robot has ended', { cause })
      })
    }
    const overHub: StopRoute = () => latest.current.room.performAction('emergency_stop')
    const overRest = stopOverRest(rest, sessionId)
    return createStop(
      () => [overGateway, overHub, overRest],
      () => {
        latest.current.observerConnection?.forgetStop()
        return queries.invalidateQueries({ queryKey: keys.sessions })
      },
    )
  })
  return stop
}
