import type { ReactNode } from 'react'
import { IconRobot } from '../base/icons.tsx'
import styles from './operator.module.css'

/** Draws a robot in place of its picture, which operators see in a session only. */
export const RobotDrawing = () => (
  <span className={styles.drawing}>
    <IconRobot size={22} stroke={1.5} />
  </span>
)

/** Draws a robot as the largest part of a page, with what lies on it. */
export const RobotHero = ({ children }: { children: ReactNode }) => (
  <div className={`${styles.drawing} ${styles.hero}`}>
    <IconRobot size={112} stroke={1} />
    {children}
  </div>
)
