import DefaultTheme from 'vitepress/theme'
import './site.css'
import './wide.css'

export default DefaultTheme
