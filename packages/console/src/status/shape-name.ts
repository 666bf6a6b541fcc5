/** The state that a shape stands for. Each is told apart without its colour. */
export type ShapeName = 'live' | 'delayed' | 'blind' | 'stopped' | 'paused' | 'lost' | 'off' | 'request'
