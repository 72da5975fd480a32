{
  "targets": [
    {
      "target_name": "login",
      "sources": ["src/addon.cc"],
      "include_dirs": ["<!(node -e \"require('nan')\")"],
    }
  ]
}
