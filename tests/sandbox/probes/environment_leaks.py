"""Nothing of the server's environment is in the session's."""

text = open("/proc/self/environ", "rb").read().decode(errors="replace") + repr(dict(os.environ))
for word in ("SANDKEEP_CANARY", "canary-", "SANDKEEP_ROOT_KEY", "SUDO_", "SSH_", "AWS_", "PGPASSWORD"):
    (held if word not in text else escaped)(f"{word} in the environment")
