import { render } from 'preact'
import { App } from './app.tsx'
import { connect } from './base/connection.ts'

const root = document.querySelector('#page')
if (root) {
  root.replaceChildren()
  connect()
  render(<App />, root)
}
