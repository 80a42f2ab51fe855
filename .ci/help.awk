# List the targets of a Makefile that have a description behind ##, in three groups.
BEGIN {
    FS = ":.*## *"
    split("install check test lint docs", FIRST, " ")
}
/^[a-z-]+:.*##/ {
    description[$1] = $2
    order[++count] = $1
}
function show(name) {
    printf "  %-16s %s\n", name, description[name]
    shown[name] = 1
}
function is_measurement(name) {
    return name ~ /^(bench|test)-|^(bench|conformance|coverage|drift|first-contact|fuzz|kills|matrix|types)$/
}
END {
    print "First:"
    for (n = 1; n in FIRST; n++) if (FIRST[n] in description) show(FIRST[n])
    print "\nTo build, write and release:"
    for (n = 1; n <= count; n++) if (!(order[n] in shown) && !is_measurement(order[n])) show(order[n])
    print "\nTo test or measure a part, or everywhere:"
    for (n = 1; n <= count; n++) if (!(order[n] in shown)) show(order[n])
}
