import type { CSSProperties, ReactNode } from 'react'
import cockpit from '../drive/cockpit.module.css'
import styles from './gallery.module.css'
import type { GalleryState } from './gallery-state.ts'

/** Renders a component of a page, as wide as a column. */
export const Column = ({ children }: { children: ReactNode }) => (
  <div className={styles.surface}>{children}</div>
)

/** Returns a state of a component that is as wide as a column. */
export const inColumn = (id: string, label: string, content: ReactNode): GalleryState => ({
  id,
  label,
  render: () => <Column>{content}</Column>,
})

/** Renders figures that lie on the picture. */
export const OnPicture = ({ children }: { children: ReactNode }) => (
  <div className={styles.onPicture}>{children}</div>
)

/** Replaces the picture of a camera, with what lies on it. */
export const FakePicture = ({ children, width = 320 }: { children?: ReactNode; width?: number | string }) => (
  <div className={styles.picture} style={{ width, aspectRatio: '16 / 9' }}>
    {children}
  </div>
)

/** Renders a part of the cockpit in a small window. @param props.beside what lies outside of the cockpit: the stop */
export const CockpitFrame = (props: {
  height: number
  width?: number
  children?: ReactNode
  beside?: ReactNode
}) => (
  <div className={styles.window} style={{ width: props.width ?? 1440, height: props.height }}>
    <div className={cockpit.cockpit} data-bare="false" data-hand="right">
      {props.children}
    </div>
    {props.beside}
  </div>
)

/** Renders a bar at the lower edge of a page. */
export const PageFrame = ({ height, children }: { height: number; children: ReactNode }) => (
  <div
    className={styles.window}
    style={{ width: 640, height, '--app-shell-navbar-width': '0px' } as CSSProperties}
  >
    {children}
  </div>
)
