import { useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { latinKey } from '../../app/shortcuts/latin-key.ts'
import { isTyping } from '../focus.ts'

/** Opens the page of the session with the key Q. Escape, which closes views elsewhere, is the stop key. */
export function useLeaveKey(sessionId: string): void {
  const navigate = useNavigate()
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (latinKey(event) !== 'q' || event.repeat || event.isComposing || isTyping()) return
      if (event.ctrlKey || event.metaKey || event.altKey) return
      if (document.querySelector('[role=dialog]') !== null) return
      event.preventDefault()
      void navigate({ to: '/sessions/$sessionId', params: { sessionId } })
    }
    window.addEventListener('keydown', onKeyDown)
    return () => window.removeEventListener('keydown', onKeyDown)
  }, [navigate, sessionId])
}
